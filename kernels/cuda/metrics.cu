#include "kernels/cuda/launch.cuh"
#include "kernels/tables/metrics.h"

namespace mr {

MR_CUDA_TABLE(MetricKernels, float)
MR_CUDA_TABLE(MetricKernels, double)

}  // namespace mr
