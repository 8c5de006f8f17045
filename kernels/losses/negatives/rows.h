// Registers the kernels of losses of relevant rows among the other rows of their lists.
#pragma once

#include "kernels/core/table.h"
#include "kernels/losses/negatives/catalogue_sums.h"
#include "kernels/losses/negatives/negatives.h"

namespace mr {

#define MR_NEGATIVES_ROWS(LISTS, ELEMENTS) \
  LISTS(part_log_sum, PartLogSum)          \
  LISTS(part_log_sum_vjp, PartLogSumVjp)   \
  LISTS(psl, PslSums)                      \
  LISTS(psl_vjp, PslSumsVjp)               \
  LISTS(kth_largest, KthLargest)           \
  LISTS(llpauc, LlpaucLoss)                \
  LISTS(add_to_log_sums, AddToLogSums)     \
  LISTS(catalogue_weights, CatalogueWeights)

MR_KERNEL_TABLE(NegativesKernels, MR_NEGATIVES_ROWS)

}  // namespace mr
