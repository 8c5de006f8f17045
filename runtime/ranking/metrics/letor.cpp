// nDCG@k as computed by Eval-Score-4.0.pl, the evaluation script of LETOR 4.0 (Qin & Liu 2013). It differs from nDCG in
// two ways: the discount is 1 for ranks 1 and 2 and 1 / log2(r) from rank 3 on, and a list with fewer than k rows
// counts as 0.
#include <algorithm>
#include <limits>

#include "runtime/ranking/ideal.h"
#include "runtime/ranking/metrics/values.h"
#include "runtime/ranking/prefix.h"
#include "runtime/ranking/smooth.h"

namespace mr {
namespace {

struct IdealKey {
  int64_t k;
  Device device;
  auto operator<=>(const IdealKey&) const = default;
};

/// Returns the DCG of grades in descending order up to rank k. It is 0 if no grade is above 0, and infinite if the list
/// has fewer than k rows, so that dividing by it gives 0.
double ideal_of(std::vector<float> grades, int64_t k, Span<const double> discounts) {
  std::sort(grades.begin(), grades.end(), std::greater<>());
  if (grades.empty() || !(grades[0] > 0)) return 0;
  if (static_cast<int64_t>(grades.size()) < k) return std::numeric_limits<double>::infinity();
  double total = 0;
  for (int64_t rank = 1; rank <= k; ++rank)
    total += gain_of(grades[rank - 1]) * (discounts[rank] - discounts[rank - 1]);
  return total;
}

const Tensor& ideals(const Ranking& r, int64_t k) {
  check_gains(r.lists);
  return r.lists.cached<Tensor>(IdealKey{k, r.device}, [&] {
    const Tensor sums = letor_discount_sums(r.lists.longest(), Device::cpu);
    const auto ideal = [&](const float* grades, int64_t n) {
      return ideal_of({grades, grades + n}, k, sums.span<const double>());
    };
    return Tensor::from(r.lists.per_list<double>(IdealKey{k, Device::cpu}, ideal), r.device);
  });
}

Tensor values(const Ranking& r, const Metric& metric, double empty) {
  const Tensor ideal = ideals(r, metric.k), discounts = letor_discount_sums(r.lists.longest(), r.device);
  const Chosen gaining = r.lists.relevant_rows(any_gain(), r.device).view();
  return metric_values(r, gaining, metric.k, empty,
                       [&]<class Real>(const MetricKernels<Real>& table, const MetricViews<Real>& v) {
                         table.dcg(r.lists.count(), {.v = v,
                                                     .gain = Gain::exp2,
                                                     .discounts = discounts.span<const double>(),
                                                     .ideal = ideal.span<const double>(),
                                                     .normalized = true});
                       });
}

}  // namespace

std::vector<MetricDefinition> letor_metrics() {
  return {{.name = "letor_ndcg",
           .cutoff = MetricDefinition::always,
           .graded = true,
           .needs_k_rows = true,
           .zero_without_relevant = true,
           .empty = "zero",
           .values = &values}};
}

}  // namespace mr
