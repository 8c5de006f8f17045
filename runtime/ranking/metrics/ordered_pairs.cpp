// Metrics of wrongly ordered pairs: the nRBP loss (Westerborg 2022, Eq. 2.12), AUC, and bpref (Buckley & Voorhees
// 2004).
#include "runtime/ranking/metrics/values.h"
#include "runtime/ranking/smooth.h"

namespace mr {
namespace {

/// Returns the metric's value for each list. kernel(table) returns a kernel from the device's table of kernels; the
/// kernel has no parameters besides MetricViews.
template <template <class> class Functor>
Tensor values(const Ranking& r, const Metric& metric, double empty, auto kernel) {
  return metric_values(r, metric, empty, [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
    kernel(table)(r.lists.count(), Functor<Real>{v});
  });
}
Tensor nrbp_loss(const Ranking& r, const Metric& metric, double empty) {
  return values<NrbpLoss>(r, metric, empty, [](const auto& table) { return table.nrbp_loss; });
}
Tensor wrong_pairs(const Ranking& r, const Metric& metric, double empty) {
  return values<WrongPairs>(r, metric, empty, [](const auto& table) { return table.wrong_pairs; });
}
Tensor auc(const Ranking& r, const Metric& metric, double empty) {
  return values<Auc>(r, metric, empty, [](const auto& table) { return table.auc; });
}
Tensor bpref(const Ranking& r, const Metric& metric, double empty) {
  return values<Bpref>(r, metric, empty, [](const auto& table) { return table.bpref; });
}

Tensor smooth(const Tensor& scores, const Lists& lists, const Metric& metric, double steepness) {
  return smooth_nrbp_loss(scores, lists, steepness, metric.relevant);
}

/// Returns the term that a relevant row at this rank adds to the nRBP loss: the number of rows above it. The sum also
/// counts pairs of two relevant rows, which `shift` subtracts.
double rows_above(const Metric&, int64_t rank) { return static_cast<double>(rank) - 1; }

const ClosedForms closed{
    .discounts = Discounts::ranks,
    .discount = &rows_above,
    .norm = [](const Metric&, const ListShape&) { return 1.0; },
    .shift =
        [](const ListShape& shape) { return static_cast<double>(shape.p) * (static_cast<double>(shape.p) - 1) / 2; },
    .stats = &nrbp_loss_stats,
    .without_relevant = 0,
};

/// Closed forms of the number of wrongly ordered pairs, in lists with two or more grades. With two grades, the pairs
/// are (relevant row, irrelevant row), as in the nRBP loss.
const ClosedForms closed_of_grades = [] {
  ClosedForms forms = closed;
  forms.of_grades = Increment::pairs;
  return forms;
}();

/// Returns the change of AUC by a swap of two rows: that of the nRBP loss divided by the number of pairs.
OwnedSwaps auc_swaps(const Ranking& r, const Metric& metric) {
  const std::vector<int64_t>& relevant = r.lists.relevant(r.threshold);
  std::vector<double> pairs;
  for (size_t l = 0; l < relevant.size(); ++l)
    pairs.push_back(static_cast<double>(relevant[l]) * static_cast<double>(r.lists.sizes()[l] - relevant[l]));
  const Tensor norms = Tensor::from(pairs, r.device), discounts = rank_discounts(r, metric, &rows_above);
  return {.views = SumSwaps{.discounts = discounts.span<const double>(), .norms = norms.span<const double>()},
          .owned = {norms, discounts}};
}

}  // namespace

std::vector<MetricDefinition> ordered_pairs_metrics() {
  return {{.name = "nrbp_loss",
           .minimize = true,
           .zero_without_relevant = true,
           .reads_relevant_only = true,
           .values = &nrbp_loss,
           .swaps = &sum_swaps,
           .smooth = &smooth,
           .closed = &closed},
          {.name = "wrong_pairs",
           .minimize = true,
           .graded = true,
           .compares_grades = true,
           .zero_without_relevant = true,
           .values = &wrong_pairs,
           .closed = &closed_of_grades},
          {.name = "auc", .reads_relevant_only = true, .values = &auc, .swaps = &auc_swaps},
          {.name = "bpref", .reads_relevant_only = true, .values = &bpref}};
}

}  // namespace mr
