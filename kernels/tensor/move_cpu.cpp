#include "kernels/core/launch_cpu.h"
#include "kernels/tensor/rows.h"

namespace mr {

MR_CPU_TABLE(MoveKernels, float, no_overrides)
MR_CPU_TABLE(MoveKernels, double, no_overrides)
MR_CPU_TABLE(MoveKernels, int64_t, no_overrides)

}  // namespace mr
