#include "kernels/cuda/launch.cuh"
#include "kernels/tables/network.h"

namespace mr {

MR_CUDA_TABLE(NetworkKernels, float)
MR_CUDA_TABLE(NetworkKernels, double)

}  // namespace mr
