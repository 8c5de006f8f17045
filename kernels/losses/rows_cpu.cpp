// The CPU's pointwise and listwise losses: the plain forms.
#include "kernels/core/launch_cpu.h"
#include "kernels/losses/rows.h"

namespace mr {

MR_CPU_TABLE(RowLossKernels, float, no_overrides)
MR_CPU_TABLE(RowLossKernels, double, no_overrides)

}  // namespace mr
