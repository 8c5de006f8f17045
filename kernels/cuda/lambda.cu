#include "kernels/cuda/launch.cuh"
#include "kernels/tables/lambda.h"

namespace mr {

MR_CUDA_TABLE(LambdaKernels, float)
MR_CUDA_TABLE(LambdaKernels, double)

}  // namespace mr
