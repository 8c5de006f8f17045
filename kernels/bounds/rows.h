// Registers the kernels that compute bounds, which are functions of a metric that rescale the loss.
#pragma once

#include "kernels/bounds/characteristic.h"
#include "kernels/bounds/logit_table.h"
#include "kernels/bounds/sample_rankings.h"
#include "kernels/core/table.h"

namespace mr {

#define MR_BOUND_ROWS(LISTS, ELEMENTS)              \
  ELEMENTS(distribution_bound, DistributionBound)   \
  ELEMENTS(characteristic, CharacteristicFunctions) \
  ELEMENTS(sample_rankings, SampleRankings)

MR_KERNEL_TABLE(BoundKernels, MR_BOUND_ROWS)

}  // namespace mr
