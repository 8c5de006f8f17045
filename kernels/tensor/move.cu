#include "kernels/device/launch.cuh"
#include "kernels/tensor/rows.h"

namespace mr {

MR_CUDA_TABLE(MoveKernels, float, no_overrides)
MR_CUDA_TABLE(MoveKernels, double, no_overrides)
MR_CUDA_TABLE(MoveKernels, int64_t, no_overrides)

}  // namespace mr
