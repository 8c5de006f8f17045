// Registers the kernels of exact ranking and its metrics.
#pragma once

#include <variant>

#include "kernels/core/table.h"
#include "kernels/ranking/binary_metrics.h"
#include "kernels/ranking/catalogue.h"
#include "kernels/ranking/graded_metrics.h"
#include "kernels/ranking/order.h"
#include "kernels/ranking/pair_metrics.h"
#include "kernels/ranking/swaps.h"
#include "kernels/ranking/swaps_of_first.h"
#include "kernels/ranking/time_biased_gain.h"

namespace mr {

// clang-format off
#define MR_METRIC_ROWS(LISTS, ELEMENTS)          \
  LISTS(place, Place)                            \
  ELEMENTS(rank_of, RankOf)                      \
  LISTS(order_of, OrderOf)                       \
  LISTS(catalogue_items, CatalogueItems)         \
  LISTS(place_chosen, PlaceChosen)               \
  LISTS(dcg, Dcg)                                \
  LISTS(average_precision, AveragePrecision)     \
  LISTS(rank_biased_precision, RankBiasedPrecision) \
  LISTS(nrbp_loss, NrbpLoss)                     \
  LISTS(hits_at, HitsAt)                         \
  LISTS(first_relevant, FirstRelevant)           \
  LISTS(wrong_pairs, WrongPairs)                 \
  LISTS(auc, Auc)                                \
  LISTS(bpref, Bpref)                            \
  LISTS(expected_reciprocal_rank, ExpectedReciprocalRank) \
  LISTS(time_biased_gain, TimeBiasedGain)
// clang-format on

MR_KERNEL_TABLE(MetricKernels, MR_METRIC_ROWS)

/// Changes of metrics when two rows swap ranks, |Delta M_ij|, which are LambdaRank's pair weights. Kernels exist for
/// each kind.
using MetricSwaps = std::variant<SumSwaps, ApSwaps, FirstSwaps, CascadeSwaps, TimeBiasSwaps>;

}  // namespace mr
