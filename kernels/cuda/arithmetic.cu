#include "kernels/tables/arithmetic.h"

#include "kernels/cuda/launch.cuh"

namespace mr {

MR_CUDA_TABLE(ArithmeticKernels, float)
MR_CUDA_TABLE(ArithmeticKernels, double)

}  // namespace mr
