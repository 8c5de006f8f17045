#include "kernels/tables/arithmetic.h"

#include "kernels/cpu/launch.h"

namespace mr {

MR_CPU_TABLE(ArithmeticKernels, float, cpu::no_overrides)
MR_CPU_TABLE(ArithmeticKernels, double, cpu::no_overrides)

}  // namespace mr
