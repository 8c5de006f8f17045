// Metrics of the number of relevant rows within the first ranks: precision, recall and similar.
#include "runtime/ranking/metrics/values.h"

namespace mr {
namespace {

using Over = HitsAt<double>::Over;

/// Counts relevant rows within the first k ranks; k = 0 means the number of relevant rows.
Tensor hits(const Ranking& r, int64_t k, Over over, double empty) {
  return metric_values(r, relevant_rows(r), k, empty,
                       [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
                         using Own = typename HitsAt<Real>::Over;
                         table.hits_at(r.lists.count(), {.v = v, .over = static_cast<Own>(over)});
                       });
}

template <Over over>
Tensor values(const Ranking& r, const Metric& metric, double empty) {
  check_complete(metric);
  return hits(r, metric.k, over, empty);
}

Tensor r_precision(const Ranking& r, const Metric&, double empty) { return hits(r, 0, Over::relevant_rows, empty); }

double relevant(const Metric&, const ListShape& shape) { return static_cast<double>(shape.p); }
double cutoff(const Metric& metric, const ListShape&) { return static_cast<double>(metric.k); }
double both(const Metric& metric, const ListShape& shape) {
  return 0.5 * (cutoff(metric, shape) + relevant(metric, shape));
}

ClosedForms forms(double (*norm)(const Metric&, const ListShape&), bool first_relevant_only = false) {
  return {.discounts = Discounts::ones,
          .discount = [](const Metric&, int64_t) { return 1.0; },
          .with_cutoff = true,
          .first_relevant_only = first_relevant_only,
          .norm = norm};
}
const ClosedForms of_precision = forms(&cutoff), of_recall = forms(&relevant), of_f1 = forms(&both),
                  of_r_precision = forms(&relevant, true);

}  // namespace

std::vector<MetricDefinition> hits_metrics() {
  return {{.name = "precision",
           .also = {"p"},
           .cutoff = MetricDefinition::always,
           .zero_without_relevant = true,
           .reads_relevant_only = true,
           .ignores_missing = true,
           .values = &values<Over::cutoff>,
           .swaps = &sum_swaps,
           .closed = &of_precision},
          {.name = "recall",
           .also = {"r"},
           .cutoff = MetricDefinition::always,
           .reads_relevant_only = true,
           .values = &values<Over::relevant_rows>,
           .swaps = &sum_swaps,
           .closed = &of_recall},
          {.name = "f1",
           .cutoff = MetricDefinition::always,
           .reads_relevant_only = true,
           .values = &values<Over::both>,
           .swaps = &sum_swaps,
           .closed = &of_f1},
          {.name = "r_precision",
           .reads_relevant_only = true,
           .values = &r_precision,
           .swaps = &sum_swaps,
           .closed = &of_r_precision}};
}

}  // namespace mr
