#include "kernels/cuda/launch.cuh"
#include "kernels/tables/lambda.h"

namespace mr {

MR_CUDA_TABLE(LambdaKernels, float, no_overrides)
MR_CUDA_TABLE(LambdaKernels, double, no_overrides)

}  // namespace mr
