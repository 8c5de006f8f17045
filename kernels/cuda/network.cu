#include "kernels/cuda/launch.cuh"
#include "kernels/tables/network.h"

namespace mr {

MR_CUDA_TABLE(NetworkKernels, float, no_overrides)
MR_CUDA_TABLE(NetworkKernels, double, no_overrides)

}  // namespace mr
