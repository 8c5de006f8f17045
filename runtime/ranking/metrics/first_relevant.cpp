// Metrics of the first relevant row's rank: reciprocal rank (Li et al. 2021, Eq. 4) and hit.
#include "runtime/ranking/metrics/values.h"
#include "runtime/ranking/smooth.h"

namespace mr {
namespace {

template <bool reciprocal>
Tensor values(const Ranking& r, const Metric& metric, double empty) {
  check_complete(metric);
  return metric_values(r, metric, empty, [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
    table.first_relevant(r.lists.count(), {.v = v, .reciprocal = reciprocal});
  });
}

template <bool reciprocal>
OwnedSwaps swaps(const Ranking&, const Metric& metric) {
  return {.views = FirstSwaps{.k = metric.k, .reciprocal = reciprocal}, .owned = {}};
}

Tensor smooth(const Tensor& scores, const Lists& lists, const Metric& metric, double steepness) {
  return smooth_rr(scores, lists, steepness, metric.relevant);
}

const ClosedForms closed{
    .kind = Increment::first,
    .discount = [](const Metric&, int64_t rank) { return 1 / static_cast<double>(rank); },
    .norm = [](const Metric&, const ListShape&) { return 1.0; },
    .stats = &rr_stats,
};

}  // namespace

std::vector<MetricDefinition> first_relevant_metrics() {
  return {{.name = "rr",
           .also = {"mrr"},
           .cutoff = MetricDefinition::maybe,
           .zero_without_relevant = true,
           .reads_relevant_only = true,
           .ignores_missing = true,
           .values = &values<true>,
           .swaps = &swaps<true>,
           .smooth = &smooth,
           .closed = &closed},
          {.name = "hit",
           .also = {"hr"},
           .cutoff = MetricDefinition::always,
           .zero_without_relevant = true,
           .reads_relevant_only = true,
           .ignores_missing = true,
           .values = &values<false>,
           .swaps = &swaps<false>}};
}

}  // namespace mr
