#include "kernels/cuda/launch.cuh"
#include "kernels/tables/arithmetic.h"

namespace mr {

MR_CUDA_TABLE(ArithmeticKernels, float)
MR_CUDA_TABLE(ArithmeticKernels, double)

}  // namespace mr
