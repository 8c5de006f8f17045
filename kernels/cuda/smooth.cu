#include "kernels/cuda/launch.cuh"
#include "kernels/tables/smooth.h"

namespace mr {

MR_CUDA_TABLE(SmoothKernels, float)
MR_CUDA_TABLE(SmoothKernels, double)

}  // namespace mr
