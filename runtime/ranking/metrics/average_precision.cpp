// Average precision (Westerborg 2022, Eq. 2.6).
#include "runtime/ranking/metrics/values.h"
#include "runtime/ranking/prefix.h"
#include "runtime/ranking/smooth.h"

namespace mr {
namespace {

Tensor values(const Ranking& r, const Metric& metric, double empty) {
  const Tensor harmonic = harmonic_sums(r.lists.longest(), r.device);
  return metric_values(r, metric, empty, [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
    table.average_precision(r.lists.count(),
                            {.v = v, .harmonic = harmonic.span<const double>(), .by_cutoff = metric.by_cutoff});
  });
}

OwnedSwaps swaps(const Ranking&, const Metric& metric) {
  return {.views = ApSwaps{.k = metric.k, .by_cutoff = metric.by_cutoff}, .owned = {}};
}

Tensor smooth(const Tensor& scores, const Lists& lists, const Metric& metric, double steepness) {
  return smooth_ap(scores, lists, steepness, metric.relevant);
}

const ClosedForms closed{
    .kind = Increment::average_precision,
    .discount = [](const Metric&, int64_t rank) { return 1 / static_cast<double>(rank); },
    .norm = [](const Metric&, const ListShape& shape) { return static_cast<double>(shape.p); },
    .stats = &ap_stats,
    .variance = &ap_variance,
};

}  // namespace

std::vector<MetricDefinition> average_precision_metrics() {
  return {{.name = "ap",
           .also = {"map"},
           .cutoff = MetricDefinition::maybe,
           .options = {"denominator"},
           .reads_relevant_only = true,
           .values = &values,
           .swaps = &swaps,
           .smooth = &smooth,
           .closed = &closed}};
}

}  // namespace mr
