// Parts of pairwise losses, shared by their values (lambda.cpp) and their curvatures
// (curvature.cpp).
#pragma once

#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/losses/lambda.h"
#include "kernels/losses/pair_weights.h"
#include "runtime/ops/check.h"
#include "runtime/ranking/metric.h"
#include "runtime/ranking/ranking.h"
#include "runtime/ranking/smooth.h"

namespace mr {

/// The ranking without ties at the scores, as swaps see it, and what a pair weighs and costs. `better`: the rows that
/// are the better one of a pair, those of the ranking's threshold unless others are given.
template <class Swaps, class Form = LogisticPair>
struct PairLoss {
  Ranking ranking;
  Swaps swaps;
  double gain;
  Form form = {};
  std::optional<Chosen> better = {};
  std::vector<Tensor> tables = {};  // that `swaps` looks at
};

/// Returns `pairs` with another cost per pair, `form`.
template <class Form, class Swaps>
PairLoss<Swaps, Form> costing(PairLoss<Swaps> pairs, Form form) {
  return {std::move(pairs.ranking), std::move(pairs.swaps), pairs.gain, form,
          std::move(pairs.better),  std::move(pairs.tables)};
}

/// The ranking and the pair weights of a metric. The type of its swaps is known only at run time.
struct MetricPairs {
  Ranking ranking;
  OwnedSwaps swaps;
  double gain;

  /// use(pairs) of the form that they have.
  template <class Use>
  auto visit(Use use) && {
    return std::visit(
        [&]<class Swaps>(const Swaps& views) {
          return use(PairLoss<Swaps>{std::move(ranking), views, gain});
        },
        swaps.views);
  }
};

// Each raises where an argument is wrong. `scores` are those to rank by, on their device.

MetricPairs metric_pairs(const Tensor& scores, const Lists& lists, const Metric& metric, double gain);

/// All pairs of rows with unequal grades, all with the same weight.
template <class Form>
PairLoss<PairSwaps, Form> equal_weights(const Tensor& scores, const Lists& lists, double gain, Form form) {
  check::positive("gain", gain);
  return {rank_rows(scores, lists, Ties::stable, any_gain()), PairSwaps{}, gain, form};
}
PairLoss<PairSwaps, HingePair> hinge_pairs(const Tensor& scores, const Lists& lists, double margin);
PairLoss<TargetPairs> all_pairs(const Tensor& scores, const Lists& lists, double gain, double upsample,
                                const std::optional<Tensor>& upsample_of);
/// Pairs weighted by a metric that is given by a gain per row, a discount for the ranks 1, 3/2, 2,
/// ... and a norm per list, all float64.
PairLoss<TableSwaps> declared_pairs(const Tensor& scores, const Lists& lists, const Tensor& gains,
                                    const Tensor& discounts, const Tensor& norms, double gain);
PairLoss<GainPairs> ndcg_1_pairs(const Tensor& scores, const Lists& lists, double gain);
PairLoss<DistancePairs> ndcg_2_pairs(const Tensor& scores, const Lists& lists, double gain, double mu, bool with_swaps);

}  // namespace mr
