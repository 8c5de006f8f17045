#include "kernels/cuda/launch.cuh"
#include "kernels/tables/bounds.h"

namespace mr {

MR_CUDA_TABLE(BoundKernels, float)
MR_CUDA_TABLE(BoundKernels, double)

}  // namespace mr
