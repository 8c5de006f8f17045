#include "kernels/device/launch.cuh"
#include "kernels/losses/rows.h"

namespace mr {

MR_CUDA_TABLE(LambdaKernels, float, no_overrides)
MR_CUDA_TABLE(LambdaKernels, double, no_overrides)

}  // namespace mr
