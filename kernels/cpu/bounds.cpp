#include "kernels/tables/bounds.h"

#include "kernels/cpu/launch.h"

namespace mr {

MR_CPU_TABLE(BoundKernels, float, no_overrides)
MR_CPU_TABLE(BoundKernels, double, no_overrides)

}  // namespace mr
