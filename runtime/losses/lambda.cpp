// Pairwise losses of judged lists, one value per list.
#include <algorithm>
#include <optional>
#include <string>

#include "kernels/losses/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ops/check.h"
#include "runtime/ranking/ideal.h"
#include "runtime/ranking/metric.h"
#include "runtime/ranking/smooth.h"
#include "runtime/tensor/device_array.h"

namespace mr {
namespace {

/// The ranking without ties at the scores, as swaps see it, and its kernel run. `better`: the rows that are the better
/// one of a pair, those of the ranking's threshold unless others are given.
template <class Swaps, class Form = LogisticPair>
LossAndSlope run(const Tensor& scores, const Ranking& ranking, const Swaps& swaps, double gain, bool derivative,
                 Form form = {}, std::optional<Chosen> better = {}) {
  using Row = typename Swaps::Row;
  const Lists& lists = ranking.lists;
  const Device device = scores.device();
  const DeviceArray<Row> rows(lists.rows(), device);
  const Tensor spare = Tensor::empty({lists.rows()}, Dtype::float64, device);
  const LossAndSlope out(scores, lists, derivative);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<LambdaKernels<Real>>(device).template of<Swaps, Form>()(
        lists.count(), {.of = {.places = ranking.placements(),
                               .relevance = lists.relevance(device).span<const float>(),
                               .lists = lists.view(device),
                               .better = better ? *better : lists.relevant_rows(ranking.threshold, device).view()},
                        .swaps = swaps,
                        .rows = rows.span(),
                        .spare = spare.span<double>(),
                        .scores = scores.span<const Real>(),
                        .gain = static_cast<Real>(gain),
                        .value = out.value.span<Real>(),
                        .derivative = out.slopes<Real>(),
                        .form = form});
  });
  return out;
}

/// Runs f with the form of a pair that is called this.
template <class F>
LossAndSlope with_pair_form(const std::string& pair, F f) {
  if (pair == "logistic") return f(LogisticPair{});
  if (pair == "sigmoid") return f(SigmoidPair{});
  throw ArgumentError("pair", "'" + pair + "', expected 'logistic' or 'sigmoid'");
}

Tensor lambda_loss(const Tensor& scores, const Lists& lists, const Metric& metric, double gain,
                   const std::string& pair) {
  check::positive("gain", gain);
  check_complete(metric);
  if (metric.definition->swaps == nullptr)
    throw ArgumentError("metric", "'" + metric.name + "': what a swap of two rows changes is not known");
  if (metric.definition->loss_needs_top && !metric.top)
    throw ArgumentError("metric", "of '" + metric.name + "' the largest grade must be given, as in mr.metrics." +
                                      metric.definition->name + "{top = 4}");
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, metric.threshold());
  const OwnedSwaps swaps = metric.definition->swaps(ranking, metric);
  return recorded(
      "lambda_loss", scores, lists, with_pair_form(pair, [&](auto form) {
        return std::visit(
            [&](const auto& views) { return run(scores.data(), ranking, views, gain, recording({scores}), form); },
            swaps.views);
      }));
}

Tensor declared_lambda_loss(const Tensor& scores, const Lists& lists, const Tensor& gains, const Tensor& discounts,
                            const Tensor& norms, double gain, const std::string& pair) {
  check::positive("gain", gain);
  check::per_row("gains", gains, lists);
  check::per_list("norms", norms, lists);
  for (const auto& [name, x] : {std::pair("gains", gains), {"discounts", discounts}, {"norms", norms}})
    check::type(name, x, Dtype::float64);
  if (discounts.entries() < 2 * lists.longest() - 1)
    throw ArgumentError("discounts", std::to_string(discounts.entries()) +
                                         " entries, expected those of ranks 1, 3/2 to " +
                                         std::to_string(lists.longest()));
  const Device device = scores.device();
  const Tensor g = gains.to(device), d = discounts.to(device), n = norms.to(device);
  const TableSwaps swaps{g.span<const double>(), d.span<const double>(), n.span<const double>()};
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, any_gain());
  return recorded("declared_lambda_loss", scores, lists, with_pair_form(pair, [&](auto form) {
                    return run(scores.data(), ranking, swaps, gain, recording({scores}), form);
                  }));
}

/// Pairs of unequal grades that weigh the same.
template <class Form>
Tensor of_pairs(const char* name, const Tensor& scores, const Lists& lists, double gain, Form form) {
  check::positive("gain", gain);
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, any_gain());
  return recorded(name, scores, lists, run(scores.data(), ranking, PairSwaps{}, gain, recording({scores}), form));
}

Tensor ranknet_loss(const Tensor& scores, const Lists& lists, double gain) {
  return of_pairs("ranknet_loss", scores, lists, gain, LogisticPair{});
}

Tensor direct_ranker_loss(const Tensor& scores, const Lists& lists, double gain) {
  return of_pairs("direct_ranker_loss", scores, lists, gain, TanhPair{});
}

Tensor hinge_loss(const Tensor& scores, const Lists& lists, double margin) {
  check::positive("margin", margin);
  return of_pairs("hinge_loss", scores, lists, 1, HingePair{margin});
}

Tensor ranknet_all_pairs_loss(const Tensor& scores, const Lists& lists, double gain, double upsample,
                              std::optional<Tensor> upsample_of) {
  check::positive("gain", gain);
  check::positive("upsample", upsample);
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, any_gain());
  const Device device = scores.device();
  const Tensor own = upsample_of ? upsample_of->to(device) : Tensor();
  if (upsample_of) {
    check::type("upsample_of", own, Dtype::float64);
    check::per_list("upsample_of", own, lists);
  }
  const TargetPairs pairs{upsample, upsample_of ? own.span<const double>() : Span<const double>{}};
  return recorded("ranknet_all_pairs_loss", scores, lists,
                  run(scores.data(), ranking, pairs, gain, recording({scores}), LogisticPair{},
                      Chosen{lists.view(device), nullptr}));
}

struct EqualPairs {
  auto operator<=>(const EqualPairs&) const = default;
};

/// Unordered pairs of equal grades.
double equal_pairs_of(const float* grades, int64_t n) {
  std::vector<float> sorted(grades, grades + n);
  std::sort(sorted.begin(), sorted.end());
  int64_t pairs = 0, equal = 0;
  for (int64_t i = 1; i < n; ++i) {
    equal = sorted[i] == sorted[i - 1] ? equal + 1 : 0;
    pairs += equal;
  }
  return static_cast<double>(pairs);
}

Tensor equal_pairs(const Lists& lists) {
  return Tensor::from(lists.per_list<double>(EqualPairs{}, &equal_pairs_of), Device::cpu);
}

struct Discounts {
  Device device;
  auto operator<=>(const Discounts&) const = default;
};

/// 1 / D of ranks 1 .. as many as the longest list has rows and one.
const Tensor& discounts_of(const Lists& lists, Device device) {
  return lists.cached<Tensor>(Discounts{device}, [&] {
    std::vector<double> d;
    for (int64_t rank = 1; rank <= lists.longest() + 1; ++rank) d.push_back(discount(static_cast<double>(rank)));
    return Tensor::from(d, device);
  });
}

Tensor ndcg_loss_1(const Tensor& scores, const Lists& lists, double gain) {
  check::positive("gain", gain);
  const Device device = scores.device();
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, any_gain());
  const GainPairs pairs{discounts_of(lists, device).span<const double>(),
                        ideal_dcg(lists, device).span<const double>()};
  return recorded("ndcg_loss_1", scores, lists, run(scores.data(), ranking, pairs, gain, recording({scores})));
}

Tensor ndcg_loss_2(const Tensor& scores, const Lists& lists, double gain, double mu, bool with_swaps) {
  check::positive("gain", gain);
  check::positive("mu", mu);
  const Device device = scores.device();
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, any_gain());
  const DistancePairs pairs{discounts_of(lists, device).span<const double>(),
                            ideal_dcg(lists, device).span<const double>(), mu, with_swaps};
  return recorded("ndcg_loss_2", scores, lists, run(scores.data(), ranking, pairs, gain, recording({scores})));
}

}  // namespace

extern const lua::OpTable lambda_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&lambda_loss>("lambda_loss", "scores, lists, metric, gain, pair",
                           "LambdaRank's loss per list, for the change of a metric by each swap; pairs cost "
                           "'logistic' or 'sigmoid'."),
     lua::op<&declared_lambda_loss>("declared_lambda_loss", "scores, lists, gains, discounts, norms, gain, pair",
                                    "LambdaRank's loss per list, for a metric with a gain per row, a discount of ranks "
                                    "1, 3/2, 2, ... and a norm per "
                                    "list."),
     lua::op<&ranknet_loss>("ranknet_loss", "scores, lists, gain", "RankNet's loss per list."),
     lua::op<&direct_ranker_loss>("direct_ranker_loss", "scores, lists, gain",
                                  "RankNet's loss per list of the hyperbolic tangent of score differences."),
     lua::op<&hinge_loss>("hinge_loss", "scores, lists, margin", "The hinge loss of pairs, summed per list."),
     lua::op<&ranknet_all_pairs_loss>("ranknet_all_pairs_loss", "scores, lists, gain, upsample, upsample_of?",
                                      "RankNet's loss per list over all pairs, targets 1, 1/2 and 0; those of unequal "
                                      "grades count `upsample` times, "
                                      "or as `upsample_of` says for each list."),
     lua::op<&equal_pairs>("equal_pairs", "lists", "How many pairs of rows of equal grades each list has, float64."),
     lua::op<&ndcg_loss_1>("ndcg_loss_1", "scores, lists, gain", "LambdaLoss's NDCG-Loss1 per list."),
     lua::op<&ndcg_loss_2>("ndcg_loss_2", "scores, lists, gain, mu, with_swaps",
                           "LambdaLoss's NDCG-Loss2 per list; with swaps, NDCG-Loss2++.")}};

}  // namespace mr
