#include "kernels/core/launch_cpu.h"
#include "kernels/tensor/rows.h"

namespace mr {

MR_CPU_TABLE(ArithmeticKernels, float, no_overrides)
MR_CPU_TABLE(ArithmeticKernels, double, no_overrides)

}  // namespace mr
