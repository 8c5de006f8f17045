#include "kernels/device/launch.cuh"
#include "kernels/models/rows.h"

namespace mr {

MR_CUDA_TABLE(DeferredKernels, float, no_overrides)
MR_CUDA_TABLE(DeferredKernels, double, no_overrides)

}  // namespace mr
