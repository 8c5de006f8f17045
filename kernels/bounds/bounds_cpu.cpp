#include "kernels/bounds/rows.h"
#include "kernels/core/launch_cpu.h"

namespace mr {

MR_CPU_TABLE(BoundKernels, float, no_overrides)
MR_CPU_TABLE(BoundKernels, double, no_overrides)

}  // namespace mr
