// DCG and nDCG (Järvelin & Kekäläinen 2002; Westerborg 2022, Eqs. 2.2, 2.3).
#include <algorithm>
#include <limits>

#include "runtime/ranking/ideal.h"
#include "runtime/ranking/metrics/values.h"
#include "runtime/ranking/prefix.h"
#include "runtime/ranking/smooth.h"

namespace mr {
namespace {

constexpr float any_grade = std::numeric_limits<float>::denorm_min();

/// Throws if gains are so large that DCG, a sum of gains that is not normalized, could overflow the dtype of the
/// scores.
void check_sums(const Ranking& r, const Metric& metric) {
  check_gains(r.lists, metric.gain, r.dtype == Dtype::float32 ? largest_gain_of_float : largest_gain);
}

struct GainKey {
  Gain gain;
  auto operator<=>(const GainKey&) const = default;
};

/// Returns 1 for each list whose ideal DCG is above 0, and 0 for the other lists.
Tensor has_gains(const Lists& lists, Device device, Gain gain) {
  const std::vector<double> known = lists.per_list<double>(GainKey{gain}, [&](const float* grades, int64_t n) {
    const float largest = n == 0 ? 0 : *std::max_element(grades, grades + n);
    return largest > 0 && gain_of(largest, gain) > 0 ? 1.0 : 0.0;
  });
  return Tensor::from(known, device);
}

template <bool normalized>
Tensor values(const Ranking& r, const Metric& metric, double empty) {
  if (!normalized) check_sums(r, metric);
  // The kernel recognizes a list without relevant rows by its ideal DCG, 0, and gives it the value `empty`. If DCG's
  // definition shall give the value of such lists, too, all lists are passed an ideal DCG of 1. DCG is not divided by
  // the ideal DCG, and needs only whether it is 0.
  const Tensor ideal = empty == by_definition ? Tensor::full({r.lists.count()}, 1.0, Dtype::float64, r.device)
                       : normalized           ? ideal_dcg(r.lists, r.device, metric.gain, metric.k)
                                              : has_gains(r.lists, r.device, metric.gain),
               discounts = discount_sums(r.lists.longest(), r.device);
  // The rows whose gain is above 0. With the gain exp2_plus_one, grade 0 has a gain, so these are all rows.
  const Chosen gaining =
      metric.gain == Gain::exp2_plus_one
          ? Chosen{r.lists.view(r.device), nullptr}
          : r.lists.relevant_rows(metric.gain == Gain::exp2 ? any_gain() : any_grade, r.device).view();
  return metric_values(r, gaining, metric.k, empty,
                       [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
                         table.dcg(r.lists.count(), {.v = v,
                                                     .gain = metric.gain,
                                                     .discounts = discounts.span<const double>(),
                                                     .ideal = ideal.span<const double>(),
                                                     .normalized = normalized});
                       });
}

double discount_at(const Metric&, int64_t rank) { return discount(static_cast<double>(rank)); }

template <bool normalized>
OwnedSwaps swaps(const Ranking& r, const Metric& metric) {
  if (!normalized) check_sums(r, metric);
  const Tensor discounts = rank_discounts(r, metric, &discount_at);
  const Tensor norms = normalized ? ideal_dcg(r.lists, r.device, metric.gain, metric.k)
                                  : Tensor::from(std::vector<double>(r.lists.sizes().size(), 1.0), r.device);
  return {.views = SumSwaps{.discounts = discounts.span<const double>(),
                            .norms = norms.span<const double>(),
                            .gain = metric.gain,
                            .graded = true},
          .owned = {discounts, norms}};
}

Tensor smooth(const Tensor& scores, const Lists& lists, const Metric&, double steepness) {
  return smooth_ndcg(scores, lists, steepness);
}

const ClosedForms closed{.discount = &discount_at, .with_cutoff = true};

}  // namespace

std::vector<MetricDefinition> cumulative_gain_metrics() {
  return {{.name = "dcg",
           .cutoff = MetricDefinition::maybe,
           .options = {"gain"},
           .graded = true,
           .zero_without_relevant = true,
           .reads_relevant_only = true,
           .ignores_missing = true,
           .values = &values<false>,
           .swaps = &swaps<false>},
          {.name = "ndcg",
           .cutoff = MetricDefinition::maybe,
           .options = {"gain"},
           .graded = true,
           .reads_relevant_only = true,
           .values = &values<true>,
           .swaps = &swaps<true>,
           .smooth = &smooth,
           .closed = &closed}};
}

}  // namespace mr
