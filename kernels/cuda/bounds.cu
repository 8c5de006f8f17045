#include "kernels/cuda/launch.cuh"
#include "kernels/tables/bounds.h"

namespace mr {

MR_CUDA_TABLE(BoundKernels, float, no_overrides)
MR_CUDA_TABLE(BoundKernels, double, no_overrides)

}  // namespace mr
