#include "runtime/losses/pair_losses.h"

#include "runtime/ranking/ideal.h"

namespace mr {
namespace {

struct Discounts {
  Device device;
  auto operator<=>(const Discounts&) const = default;
};

/// Returns DCG's discount 1 / log2(1 + rank) for every rank from 1 to the length of the longest list plus 1.
const Tensor& discounts_of(const Lists& lists, Device device) {
  return lists.cached<Tensor>(Discounts{device}, [&] {
    std::vector<double> d;
    for (int64_t rank = 1; rank <= lists.longest() + 1; ++rank) d.push_back(discount(static_cast<double>(rank)));
    return Tensor::from(d, device);
  });
}

Ranking ranked(const Tensor& scores, const Lists& lists) { return rank_rows(scores, lists, Ties::stable, any_gain()); }

}  // namespace

MetricPairs metric_pairs(const Tensor& scores, const Lists& lists, const Metric& metric, double steepness) {
  check::positive("steepness", steepness);
  check_complete(metric);
  if (metric.definition->swaps == nullptr)
    throw ArgumentError("metric",
                        "'" + metric.name + "', expected a metric for which the change by a swap of two rows is known");
  if (metric.definition->loss_needs_top && !metric.top)
    throw ArgumentError("metric", "'" + metric.name + "' needs the largest grade, as in mr.metrics." +
                                      metric.definition->name + "{top = 4}");
  Ranking ranking = rank_rows(scores, lists, Ties::stable, metric.threshold());
  OwnedSwaps swaps = metric.definition->swaps(ranking, metric);
  return {std::move(ranking), std::move(swaps), steepness};
}

PairLoss<TargetPairs> all_pairs(const Tensor& scores, const Lists& lists, double steepness, double upsample,
                                const std::optional<Tensor>& upsample_of) {
  check::positive("steepness", steepness);
  check::positive("upsample", upsample);
  const Device device = scores.device();
  const Tensor own = upsample_of ? upsample_of->to(device) : Tensor();
  if (upsample_of) {
    check::type("upsample_of", own, Dtype::float64);
    check::per_list("upsample_of", own, lists);
  }
  const TargetPairs pairs{upsample, upsample_of ? own.span<const double>() : Span<const double>{}};
  return {ranked(scores, lists), pairs, steepness, {}, Chosen{lists.view(device), nullptr}, {own}};
}

PairLoss<TableSwaps> declared_pairs(const Tensor& scores, const Lists& lists, const Tensor& gains,
                                    const Tensor& discounts, const Tensor& norms, double steepness) {
  check::positive("steepness", steepness);
  check::per_row("gains", gains, lists);
  check::per_list("norms", norms, lists);
  for (const auto& [name, x] : {std::pair("gains", gains), {"discounts", discounts}, {"norms", norms}})
    check::type(name, x, Dtype::float64);
  if (discounts.entries() < 2 * lists.longest() - 1)
    throw ArgumentError("discounts", std::to_string(discounts.entries()) + " entries, expected at least " +
                                         std::to_string(2 * lists.longest() - 1) +
                                         ": the discounts of ranks 1, 3/2, 2 to " + std::to_string(lists.longest()) +
                                         ", the length of the longest list");
  const Device device = scores.device();
  const Tensor g = gains.to(device), d = discounts.to(device), n = norms.to(device);
  const TableSwaps swaps{g.span<const double>(), d.span<const double>(), n.span<const double>()};
  return {ranked(scores, lists), swaps, steepness, {}, {}, {g, d, n}};
}

PairLoss<GainPairs> ndcg_1_pairs(const Tensor& scores, const Lists& lists, double steepness) {
  check::positive("steepness", steepness);
  const GainPairs pairs{discounts_of(lists, scores.device()).span<const double>(),
                        ideal_dcg(lists, scores.device()).span<const double>()};
  return {ranked(scores, lists), pairs, steepness};
}

PairLoss<DistancePairs> ndcg_2_pairs(const Tensor& scores, const Lists& lists, double steepness, double mu,
                                     bool with_swaps) {
  check::positive("steepness", steepness);
  check::positive("mu", mu);
  const DistancePairs pairs{discounts_of(lists, scores.device()).span<const double>(),
                            ideal_dcg(lists, scores.device()).span<const double>(), mu, with_swaps};
  return {ranked(scores, lists), pairs, steepness};
}

}  // namespace mr
