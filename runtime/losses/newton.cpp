// Values and first and second derivatives of pairwise losses, for boosted trees. They are computed on the CPU, because
// trees are grown there.
#include <tuple>

#include "runtime/losses/list_loss.h"
#include "runtime/losses/pair_losses.h"

namespace mr {
namespace {

/// Values per list, and first and second derivatives by each score alone.
using Derivatives = std::tuple<Tensor, Tensor, Tensor>;

template <class Swaps, class Form>
Derivatives derivatives_of(const Tensor& scores, const PairLoss<Swaps, Form>& pairs) {
  const LossAndSlope out(scores, pairs.ranking.lists, true);
  const Tensor curvature = Tensor::empty(scores.shape(), Dtype::float64);
  compute(pairs, scores, out, curvature);
  return {out.value, out.derivative, curvature};
}

/// Returns the scores as float64 on the CPU. Throws unless there is one per row.
Tensor taken(const Tensor& scores, const Lists& lists) {
  check_scores("derivatives", scores, lists);
  return scores.data().to(Device::cpu).to(Dtype::float64);
}

Derivatives lambda_derivatives(const Tensor& scores, const Lists& lists, const Metric& metric, double steepness) {
  const Tensor here = taken(scores, lists);
  return metric_pairs(here, lists, metric, steepness).visit([&](const auto& pairs) {
    return derivatives_of(here, pairs);
  });
}

Derivatives declared_lambda_derivatives(const Tensor& scores, const Lists& lists, const Tensor& gains,
                                        const Tensor& discounts, const Tensor& norms, double steepness) {
  const Tensor here = taken(scores, lists);
  return derivatives_of(here, declared_pairs(here, lists, gains, discounts, norms, steepness));
}

template <class Form>
Derivatives pair_derivatives(const Tensor& scores, const Lists& lists, double parameter) {
  const Tensor here = taken(scores, lists);
  return derivatives_of(here, equal_weights<Form>(here, lists, parameter));
}

Derivatives ranknet_all_pairs_derivatives(const Tensor& scores, const Lists& lists, double steepness, double upsample,
                                          std::optional<Tensor> upsample_of) {
  const Tensor here = taken(scores, lists);
  return derivatives_of(here, all_pairs(here, lists, steepness, upsample, upsample_of));
}

Derivatives ndcg_loss_1_derivatives(const Tensor& scores, const Lists& lists, double steepness) {
  const Tensor here = taken(scores, lists);
  return derivatives_of(here, ndcg_1_pairs(here, lists, steepness));
}

Derivatives ndcg_loss_2_derivatives(const Tensor& scores, const Lists& lists, double steepness, double mu,
                                    bool with_swaps) {
  const Tensor here = taken(scores, lists);
  return derivatives_of(here, ndcg_2_pairs(here, lists, steepness, mu, with_swaps));
}

}  // namespace

#define MR_LOSS(name, Form, parameter, formula)                                        \
  lua::op<&pair_derivatives<Form>>(#name "_derivatives", "scores, lists, " #parameter, \
                                   "Values of " #name "_loss, and first and second derivatives by each score alone."),

extern const lua::OpTable newton_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&lambda_derivatives>(
         "lambda_derivatives", "scores, lists, metric, steepness",
         "Values of LambdaRank's loss, and first and second derivatives by each score alone; float64, on the CPU."),
     lua::op<&declared_lambda_derivatives>(
         "declared_lambda_derivatives", "scores, lists, gains, discounts, norms, steepness",
         "Values of declared_lambda_loss, and first and second derivatives by each score alone."),
     lua::op<&ranknet_all_pairs_derivatives>(
         "ranknet_all_pairs_derivatives", "scores, lists, steepness, upsample, upsample_of?",
         "Values of ranknet_all_pairs_loss, and first and second derivatives by each score alone."),
     lua::op<&ndcg_loss_1_derivatives>("ndcg_loss_1_derivatives", "scores, lists, steepness",
                                       "Values of ndcg_loss_1, and first and second derivatives by each score alone."),
     lua::op<&ndcg_loss_2_derivatives>("ndcg_loss_2_derivatives", "scores, lists, steepness, mu, with_swaps",
                                       "Values of ndcg_loss_2, and first and second derivatives by each score alone."),
     MR_PAIR_FORMS(MR_LOSS, MR_NO_PAIR_FORM)}};

#undef MR_LOSS

}  // namespace mr
