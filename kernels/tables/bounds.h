// The kernels of bounds.
#pragma once

#include "kernels/core/table.h"
#include "kernels/math/characteristic.h"
#include "kernels/math/logit_table.h"

namespace mr {

#define MR_BOUND_ROWS(LISTS, ELEMENTS)            \
  ELEMENTS(distribution_bound, DistributionBound) \
  ELEMENTS(characteristic, CharacteristicFunctions)

MR_KERNEL_TABLE(BoundKernels, MR_BOUND_ROWS)

}  // namespace mr
