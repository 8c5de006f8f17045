#include "kernels/device/launch.cuh"
#include "kernels/losses/rows.h"

namespace mr {

MR_CUDA_TABLE(RowLossKernels, float, no_overrides)
MR_CUDA_TABLE(RowLossKernels, double, no_overrides)

}  // namespace mr
