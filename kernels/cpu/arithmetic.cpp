#include "kernels/tables/arithmetic.h"

#include "kernels/cpu/launch.h"

namespace mr {

MR_CPU_TABLE(ArithmeticKernels, float, no_overrides)
MR_CPU_TABLE(ArithmeticKernels, double, no_overrides)

}  // namespace mr
