#include "kernels/bounds/rows.h"
#include "kernels/device/launch.cuh"

namespace mr {

MR_CUDA_TABLE(BoundKernels, float, no_overrides)
MR_CUDA_TABLE(BoundKernels, double, no_overrides)

}  // namespace mr
