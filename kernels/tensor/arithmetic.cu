#include "kernels/device/launch.cuh"
#include "kernels/tensor/rows.h"

namespace mr {

MR_CUDA_TABLE(ArithmeticKernels, float, no_overrides)
MR_CUDA_TABLE(ArithmeticKernels, double, no_overrides)

}  // namespace mr
