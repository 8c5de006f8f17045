#include "kernels/tables/move.h"

#include "kernels/cpu/launch.h"

namespace mr {

MR_CPU_TABLE(MoveKernels, float, no_overrides)
MR_CPU_TABLE(MoveKernels, double, no_overrides)
MR_CPU_TABLE(MoveKernels, int64_t, no_overrides)

}  // namespace mr
