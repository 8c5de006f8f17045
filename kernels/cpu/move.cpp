#include "kernels/tables/move.h"

#include "kernels/cpu/launch.h"

namespace mr {

MR_CPU_TABLE(MoveKernels, float, cpu::no_overrides)
MR_CPU_TABLE(MoveKernels, double, cpu::no_overrides)
MR_CPU_TABLE(MoveKernels, int64_t, cpu::no_overrides)

}  // namespace mr
