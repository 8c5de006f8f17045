#include "kernels/cuda/launch.cuh"
#include "kernels/tables/move.h"

namespace mr {

MR_CUDA_TABLE(MoveKernels, float)
MR_CUDA_TABLE(MoveKernels, double)
MR_CUDA_TABLE(MoveKernels, int64_t)

}  // namespace mr
