#include "kernels/cuda/launch.cuh"
#include "kernels/tables/move.h"

namespace mr {

MR_CUDA_TABLE(MoveKernels, float, no_overrides)
MR_CUDA_TABLE(MoveKernels, double, no_overrides)
MR_CUDA_TABLE(MoveKernels, int64_t, no_overrides)

}  // namespace mr
