#include "kernels/device/launch.cuh"
#include "kernels/losses/negatives/rows.h"

namespace mr {

MR_CUDA_TABLE(NegativesKernels, float, no_overrides)
MR_CUDA_TABLE(NegativesKernels, double, no_overrides)

}  // namespace mr
