// Helpers for definitions of metrics: they run a kernel over the rows that count (relevant rows or rows with a gain),
// and compute the change of a metric by a swap of two rows.
#pragma once

#include "runtime/ranking/closed_forms.h"
#include "runtime/ranking/metrics/definitions.h"

namespace mr {

inline Chosen relevant_rows(const Ranking& r) { return r.lists.relevant_rows(r.threshold, r.device).view(); }

/// Computes a metric's value for each list. work(table, views) runs a kernel of the device's table, for scores of the
/// ranking's dtype. The kernel sees the rows in `counted`, the cutoff k, and the value `empty` of lists without
/// relevant rows.
template <class Work>
Tensor metric_values(const Ranking& r, Chosen counted, int64_t k, double empty, Work work) {
  Tensor out = Tensor::empty({r.lists.count()}, r.dtype, r.device);
  with_real(r.dtype, [&]<class Real>() {
    const MetricViews<Real> views{.places = r.placements(),
                                  .lists = r.lists.view(r.device),
                                  .relevance = r.lists.relevance(r.device).span<const float>(),
                                  .counted = counted,
                                  .k = k,
                                  .empty = empty,
                                  .out = out.span<Real>()};
    work(kernels<MetricKernels<Real>>(r.device), views);
  });
  return out;
}

/// Computes a metric's value for each list by the kernel that `work` runs. The kernel sees the relevant rows and the
/// metric's cutoff.
template <class Work>
Tensor metric_values(const Ranking& r, const Metric& metric, double empty, Work work) {
  return metric_values(r, relevant_rows(r), metric.k, empty, work);
}

/// Returns the change of a metric if two rows swap ranks. The metric is a sum over relevant rows of a discount of the
/// rank, divided by a norm; its closed forms give discounts and norms.
OwnedSwaps sum_swaps(const Ranking& r, const Metric& metric);
/// Returns discount(metric, rank) for the ranks from 1 to the length of the longest list, on the ranking's device; 0
/// for ranks beyond the metric's cutoff.
Tensor rank_discounts(const Ranking& r, const Metric& metric, double (*discount)(const Metric&, int64_t rank));

}  // namespace mr
