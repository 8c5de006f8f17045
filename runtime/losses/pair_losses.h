// Pairs of rows and their weights, for the values (lambda.cpp) and the second derivatives (newton.cpp) of pairwise
// losses.
#pragma once

#include <optional>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/losses/rows.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ranking/metric.h"
#include "runtime/ranking/ranking.h"
#include "runtime/ranking/smooth.h"
#include "runtime/tensor/device_array.h"

namespace mr {

/// The data of a pairwise loss: a ranking of the rows without ties, the type of the pair weights (Swaps) and the cost
/// of a pair's score difference (Form). `better` has the rows that can be the more relevant row of a pair. If it is not
/// given, these are the rows whose grade reaches the ranking's threshold.
template <class Swaps, class Form = LogisticPair>
struct PairLoss {
  Ranking ranking;
  Swaps swaps;
  double steepness;
  Form form = {};
  std::optional<Chosen> better = {};
  std::vector<Tensor> tables = {};  // owns the memory that `swaps` points to
};

/// The names in Lua of the loss with the pair cost `Form`, and of the parameter of that loss.
template <class Form>
struct PairNames;
#define MR_PAIR_NAMES(name, Form, parameter_name, formula)                           \
  template <>                                                                        \
  struct PairNames<Form> {                                                           \
    static constexpr const char *loss = #name "_loss", *parameter = #parameter_name; \
  };
MR_PAIR_FORMS(MR_PAIR_NAMES, MR_NO_PAIR_FORM)
#undef MR_PAIR_NAMES

/// Returns the pairwise loss `pairs` with the cost `form` of a pair instead of the logistic cost.
template <class Form, class Swaps>
PairLoss<Swaps, Form> costing(PairLoss<Swaps> pairs, Form form) {
  return {std::move(pairs.ranking), std::move(pairs.swaps), pairs.steepness, form,
          std::move(pairs.better),  std::move(pairs.tables)};
}

/// The ranking and the pair weights of a metric. The type of `swaps` is known only at run time.
struct MetricPairs {
  Ranking ranking;
  OwnedSwaps swaps;
  double steepness;

  /// Calls use(pairs), where `pairs` is a PairLoss with the static type of the pair weights `swaps`.
  template <class Use>
  auto visit(Use use) && {
    return std::visit(
        [&]<class Swaps>(const Swaps& views) {
          return use(PairLoss<Swaps>{std::move(ranking), views, steepness});
        },
        swaps.views);
  }
};

/// Computes the values of a pairwise loss into `out`, and its derivative if `out` has one. If `curvature` is defined,
/// scores have to be float64 on the CPU, and the second derivatives by each score alone are computed, too.
template <class Swaps, class Form>
void compute(const PairLoss<Swaps, Form>& pairs, const Tensor& scores, const LossAndSlope& out,
             const Tensor& curvature = {}) {
  const Lists& lists = pairs.ranking.lists;
  const Device device = scores.device();
  const DeviceArray<typename Swaps::Row> rows(lists.rows(), device);
  const Tensor spare = Tensor::empty({lists.rows()}, Dtype::float64, device);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<LambdaKernels<Real>>(device).template of<Swaps, Form>()(
        lists.count(),
        {.of = {.places = pairs.ranking.placements(),
                .relevance = lists.relevance(device).span<const float>(),
                .lists = lists.view(device),
                .better = pairs.better ? *pairs.better : lists.relevant_rows(pairs.ranking.threshold, device).view()},
         .swaps = pairs.swaps,
         .rows = rows.span(),
         .spare = spare.span<double>(),
         .scores = scores.data().span<const Real>(),
         .steepness = static_cast<Real>(pairs.steepness),
         .value = out.value.span<Real>(),
         .derivative = out.slopes<Real>(),
         .form = pairs.form,
         .weights = lists.row_weights_view(device),
         .curvature = curvature.defined() ? curvature.span<Real>() : Span<Real>{}});
  });
}

// `metric_pairs` and the functions below throw ArgumentError if an argument is wrong. They rank rows by `scores`, on
// the device of `scores`.

MetricPairs metric_pairs(const Tensor& scores, const Lists& lists, const Metric& metric, double steepness);

/// Returns all pairs of rows with unequal grades, each with weight 1. `parameter` is the parameter of the pair cost
/// Form. If Form has none, `parameter` is the factor by which score differences are multiplied.
template <class Form>
PairLoss<PairSwaps, Form> equal_weights(const Tensor& scores, const Lists& lists, double parameter) {
  check::positive(PairNames<Form>::parameter, parameter);
  Ranking ranking = rank_rows(scores, lists, Ties::stable, any_gain());
  if constexpr (std::is_empty_v<Form>)
    return {std::move(ranking), PairSwaps{}, parameter};
  else
    return {std::move(ranking), PairSwaps{}, 1, Form{parameter}};
}
PairLoss<TargetPairs> all_pairs(const Tensor& scores, const Lists& lists, double steepness, double upsample,
                                const std::optional<Tensor>& upsample_of);
/// Returns pairs weighted by a metric that is given by a gain per row, a discount for the ranks 1, 3/2, 2, ... and a
/// norm per list, all float64.
PairLoss<TableSwaps> declared_pairs(const Tensor& scores, const Lists& lists, const Tensor& gains,
                                    const Tensor& discounts, const Tensor& norms, double steepness);
PairLoss<GainPairs> ndcg_1_pairs(const Tensor& scores, const Lists& lists, double steepness);
PairLoss<DistancePairs> ndcg_2_pairs(const Tensor& scores, const Lists& lists, double steepness, double mu,
                                     bool with_swaps);

}  // namespace mr
