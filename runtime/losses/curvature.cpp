// Second derivatives of pairwise losses, for boosted trees. They are computed on the CPU, because trees are grown
// there.
#include "kernels/core/threads.h"
#include "kernels/losses/pairs/lambda_curvature.h"
#include "kernels/ranking/rows.h"
#include "runtime/losses/list_loss.h"
#include "runtime/losses/pairs.h"
#include "runtime/tensor/device_array.h"

namespace mr {
namespace {

template <class Swaps, class Form>
Tensor curvature_of(const Tensor& scores, const PairLoss<Swaps, Form>& pairs) {
  using Row = typename Swaps::Row;
  const Lists& lists = pairs.ranking.lists;
  const DeviceArray<Row> rows(lists.rows(), Device::cpu);
  const Tensor spare = Tensor::empty({lists.rows()}, Dtype::float64);
  const Tensor out = Tensor::zeros({lists.rows()}, Dtype::float64);
  const Chosen better = pairs.better ? *pairs.better : lists.relevant_rows(pairs.ranking.threshold, Device::cpu).view();
  const cpu::LambdaCurvature<Swaps, Form> work{.of = {.places = pairs.ranking.placements(),
                                                      .relevance = lists.relevance(Device::cpu).span<const float>(),
                                                      .lists = lists.view(Device::cpu),
                                                      .better = better},
                                               .swaps = pairs.swaps,
                                               .rows = rows.span(),
                                               .spare = spare.span<double>(),
                                               .scores = scores.span<const double>(),
                                               .steepness = pairs.steepness,
                                               .form = pairs.form,
                                               .weights = lists.row_weights_view(Device::cpu),
                                               .curvature = out.span<double>()};
  cpu::parallel_each(lists.count(), 1, [&](int64_t list) { work(SerialGroup{}, list); });
  return out;
}

/// Returns the scores as float64 on the CPU. Throws unless there is one per row.
Tensor taken(const Tensor& scores, const Lists& lists) {
  check_scores("curvature", scores, lists);
  return scores.data().to(Device::cpu).to(Dtype::float64);
}

Tensor lambda_curvature(const Tensor& scores, const Lists& lists, const Metric& metric, double steepness) {
  const Tensor here = taken(scores, lists);
  return metric_pairs(here, lists, metric, steepness).visit([&](const auto& pairs) {
    return curvature_of(here, pairs);
  });
}

Tensor declared_lambda_curvature(const Tensor& scores, const Lists& lists, const Tensor& gains, const Tensor& discounts,
                                 const Tensor& norms, double steepness) {
  const Tensor here = taken(scores, lists);
  return curvature_of(here, declared_pairs(here, lists, gains, discounts, norms, steepness));
}

template <class Form>
Tensor pair_curvature(const Tensor& scores, const Lists& lists, double parameter) {
  const Tensor here = taken(scores, lists);
  return curvature_of(here, equal_weights<Form>(here, lists, parameter));
}

Tensor ranknet_all_pairs_curvature(const Tensor& scores, const Lists& lists, double steepness, double upsample,
                                   std::optional<Tensor> upsample_of) {
  const Tensor here = taken(scores, lists);
  return curvature_of(here, all_pairs(here, lists, steepness, upsample, upsample_of));
}

Tensor ndcg_loss_1_curvature(const Tensor& scores, const Lists& lists, double steepness) {
  const Tensor here = taken(scores, lists);
  return curvature_of(here, ndcg_1_pairs(here, lists, steepness));
}

Tensor ndcg_loss_2_curvature(const Tensor& scores, const Lists& lists, double steepness, double mu, bool with_swaps) {
  const Tensor here = taken(scores, lists);
  return curvature_of(here, ndcg_2_pairs(here, lists, steepness, mu, with_swaps));
}

}  // namespace

#define MR_LOSS(name, Form, parameter, formula)                                    \
  lua::op<&pair_curvature<Form>>(#name "_curvature", "scores, lists, " #parameter, \
                                 "Second derivatives of " #name "_loss by each score alone; float64, on the CPU."),

extern const lua::OpTable curvature_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&lambda_curvature>("lambda_curvature", "scores, lists, metric, steepness",
                                "Second derivatives of LambdaRank's loss by each score alone; float64, on the CPU."),
     lua::op<&declared_lambda_curvature>("declared_lambda_curvature",
                                         "scores, lists, gains, discounts, norms, steepness",
                                         "Second derivatives of declared_lambda_loss by each score alone."),
     lua::op<&ranknet_all_pairs_curvature>("ranknet_all_pairs_curvature",
                                           "scores, lists, steepness, upsample, upsample_of?",
                                           "Second derivatives of ranknet_all_pairs_loss by each score alone."),
     lua::op<&ndcg_loss_1_curvature>("ndcg_loss_1_curvature", "scores, lists, steepness",
                                     "Second derivatives of ndcg_loss_1 by each score alone."),
     lua::op<&ndcg_loss_2_curvature>("ndcg_loss_2_curvature", "scores, lists, steepness, mu, with_swaps",
                                     "Second derivatives of ndcg_loss_2 by each score alone."),
     MR_PAIR_FORMS(MR_LOSS, MR_NO_PAIR_FORM)}};

#undef MR_LOSS

}  // namespace mr
