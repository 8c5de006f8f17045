#include "runtime/ranking/metrics/values.h"

namespace mr {
namespace {

struct Key {
  enum What : int8_t { discounts, norms } what;
  int64_t metric;
  Device device;
  auto operator<=>(const Key&) const = default;
};

/// Returns for each list the number by which the metric's sum is divided.
std::vector<double> norms_of(const Metric& metric, const Ranking& r) {
  const std::vector<int64_t>& relevant = r.lists.relevant(r.threshold);
  std::vector<double> norms(relevant.size(), 1.0);
  for (size_t l = 0; l < norms.size(); ++l) {
    if (relevant[l] > 0) norms[l] = metric.definition->closed->norm(metric, {r.lists.sizes()[l], relevant[l], {}});
  }
  return norms;
}

}  // namespace

Tensor rank_discounts(const Ranking& r, const Metric& metric, double (*discount)(const Metric&, int64_t rank)) {
  return r.lists.cached<Tensor>(Key{Key::discounts, metric.number, r.device}, [&] {
    std::vector<double> d(static_cast<size_t>(r.lists.longest()), 0.0);
    for (int64_t rank = 1; rank <= std::min(r.lists.longest(), metric.k); ++rank) d[rank - 1] = discount(metric, rank);
    return Tensor::from(d, r.device);
  });
}

OwnedSwaps sum_swaps(const Ranking& r, const Metric& metric) {
  const Tensor norms = r.lists.cached<Tensor>(Key{Key::norms, metric.number, r.device},
                                              [&] { return Tensor::from(norms_of(metric, r), r.device); });
  const Tensor discounts = rank_discounts(r, metric, metric.definition->closed->discount);
  return {.views = SumSwaps{.discounts = discounts.span<const double>(),
                            .norms = norms.span<const double>(),
                            .first_relevant_only = metric.definition->closed->first_relevant_only},
          .owned = {norms, discounts}};
}

}  // namespace mr
