// Helpers for definitions of metrics: they run a kernel over the rows that count (relevant rows or rows with a gain),
// and compute the change of a metric by a swap of two rows.
#pragma once

#include "runtime/ranking/closed_forms.h"
#include "runtime/ranking/metrics/definitions.h"

namespace mr {

inline Chosen relevant_rows(const Ranking& r) { return r.lists.relevant_rows(r.threshold, r.device).view(); }

/// Computes a metric: runs a kernel over the counted rows, on the ranking's device and in its type. `work` makes the
/// functor from the views.
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

/// Like `metric_values` above, over the relevant rows and with the metric's k.
template <class Work>
Tensor metric_values(const Ranking& r, const Metric& metric, double empty, Work work) {
  return metric_values(r, relevant_rows(r), metric.k, empty, work);
}

/// Returns the changes by swaps of two rows, for a metric that is a sum of gains times discounts, from its closed
/// forms, for binary relevance.
OwnedSwaps sum_swaps(const Ranking& r, const Metric& metric);
/// Returns the discounts of ranks 1 to the longest list's number of rows, 0 beyond k, on the ranking's device.
Tensor rank_discounts(const Ranking& r, const Metric& metric, double (*discount)(const Metric&, int64_t rank));

}  // namespace mr
