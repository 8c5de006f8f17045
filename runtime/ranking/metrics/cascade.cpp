// Expected reciprocal rank (Chapelle et al. 2009).
#include <algorithm>

#include "runtime/ranking/ideal.h"
#include "runtime/ranking/metrics/values.h"

namespace mr {
namespace {

/// Returns the largest possible grade: the option `top`, or else the largest grade in the lists.
double top_of(const Ranking& r, const Metric& metric) {
  check_gains(r.lists);
  const auto& grades = r.lists.relevance();
  const double largest = grades.empty() ? 0 : *std::max_element(grades.begin(), grades.end());
  if (metric.top && *metric.top < largest) {
    throw ArgumentError("top",
                        number_text(*metric.top) + ", expected at least the largest grade, " + number_text(largest));
  }
  return metric.top.value_or(largest);
}

Tensor values(const Ranking& r, const Metric& metric, double empty) {
  const double top = top_of(r, metric);
  const Tensor order = order_of(r);
  const Tensor scratch = Tensor::empty({r.ties == Ties::mean ? 4 * r.lists.rows() : 0}, Dtype::float64, r.device);
  return metric_values(r, metric, empty, [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
    table.expected_reciprocal_rank(
        r.lists.count(), {.v = v, .order = order.span<const int64_t>(), .top = top, .scratch = scratch.span<double>()});
  });
}

OwnedSwaps swaps(const Ranking& r, const Metric& metric) {
  return {.views = CascadeSwaps{.k = metric.k, .top = top_of(r, metric)}, .owned = {}};
}

}  // namespace

std::vector<MetricDefinition> cascade_metrics() {
  return {{.name = "err",
           .cutoff = MetricDefinition::maybe,
           .options = {"top"},
           .graded = true,
           .zero_without_relevant = true,
           .loss_needs_top = true,
           .values = &values,
           .swaps = &swaps}};
}

}  // namespace mr
