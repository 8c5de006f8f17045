// Rank-biased precision (Moffat & Zobel 2008; Westerborg 2022, Eqs. 2.4, 2.5).

#include "kernels/core/powers.h"
#include "runtime/ranking/metrics/values.h"

namespace mr {
namespace {

template <bool normalized>
Tensor values(const Ranking& r, const Metric& metric, double empty) {
  return metric_values(r, metric, empty, [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
    table.rank_biased_precision(r.lists.count(), {.v = v, .persistence = metric.parameter, .normalized = normalized});
  });
}

double discount_at(const Metric& metric, int64_t rank) {
  return portable::pow(metric.parameter, static_cast<double>(rank) - 1);
}

const ClosedForms plain{
    .discount = &discount_at,
    .with_cutoff = true,
    .norm = [](const Metric& metric, const ListShape&) { return 1 / (1 - metric.parameter); },
};
const ClosedForms normal{
    .discount = &discount_at,
    .with_cutoff = true,
    .norm =
        [](const Metric& metric, const ListShape& shape) {
          return (1 - portable::pow(metric.parameter, static_cast<double>(shape.p))) / (1 - metric.parameter);
        },
};
const MetricDefinition::Parameter persistence{
    .name = "p", .fallback = 0.95, .low = 0, .high = 1, .help = "probability that a user continues to the next rank"};

}  // namespace

std::vector<MetricDefinition> rank_biased_metrics() {
  return {{.name = "rbp",
           .cutoff = MetricDefinition::maybe,
           .parameter = persistence,
           .zero_without_relevant = true,
           .reads_relevant_only = true,
           .ignores_missing = true,
           .values = &values<false>,
           .swaps = &sum_swaps,
           .closed = &plain},
          {.name = "nrbp",
           .cutoff = MetricDefinition::maybe,
           .parameter = persistence,
           .reads_relevant_only = true,
           .values = &values<true>,
           .swaps = &sum_swaps,
           .closed = &normal}};
}

}  // namespace mr
