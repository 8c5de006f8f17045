#include "kernels/cuda/launch.cuh"
#include "kernels/tables/smooth.h"

namespace mr {

MR_CUDA_TABLE(SmoothKernels, float, no_overrides)
MR_CUDA_TABLE(SmoothKernels, double, no_overrides)

}  // namespace mr
