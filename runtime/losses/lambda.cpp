// Pairwise losses of judged lists, one value per list.
#include "kernels/losses/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ops/check.h"
#include "runtime/ranking/metric.h"
#include "runtime/ranking/smooth.h"
#include "runtime/tensor/device_array.h"

namespace mr {
namespace {

/// The ranking without ties at the scores, as swaps see it, and its kernel run.
template <class Swaps>
LossAndSlope run(const Tensor& scores, const Ranking& ranking, const Swaps& swaps, double gain, bool derivative) {
  using Row = typename Swaps::Row;
  const Lists& lists = ranking.lists;
  const Device device = scores.device();
  const DeviceArray<Row> rows(lists.rows(), device);
  const Tensor spare = Tensor::empty({lists.rows()}, Dtype::float64, device);
  const LossAndSlope out(scores, lists, derivative);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<LambdaKernels<Real>>(device).template of<Swaps>()(
        lists.count(), {.of = {.places = ranking.placements(),
                               .relevance = lists.relevance(device).span<const float>(),
                               .lists = lists.view(device),
                               .better = lists.relevant_rows(ranking.threshold, device).view()},
                        .swaps = swaps,
                        .rows = rows.span(),
                        .spare = spare.span<double>(),
                        .scores = scores.span<const Real>(),
                        .gain = static_cast<Real>(gain),
                        .value = out.value.span<Real>(),
                        .derivative = out.slopes<Real>()});
  });
  return out;
}

Tensor lambda_loss(const Tensor& scores, const Lists& lists, const Metric& metric, double gain) {
  check::positive("gain", gain);
  check_complete(metric);
  if (metric.definition->swaps == nullptr)
    throw ArgumentError("metric", "'" + metric.name + "': what a swap of two rows changes is not known");
  if (metric.definition->loss_needs_top && !metric.top)
    throw ArgumentError("metric", "of '" + metric.name + "' the largest grade must be given, as in mr.metrics." +
                                      metric.definition->name + "{top = 4}");
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, metric.threshold());
  const OwnedSwaps swaps = metric.definition->swaps(ranking, metric);
  const LossAndSlope made = std::visit(
      [&](const auto& views) { return run(scores.data(), ranking, views, gain, recording({scores})); }, swaps.views);
  return recorded("lambda_loss", scores, lists, made);
}

Tensor ranknet_loss(const Tensor& scores, const Lists& lists, double gain) {
  check::positive("gain", gain);
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, any_gain());
  return recorded("ranknet_loss", scores, lists, run(scores.data(), ranking, PairSwaps{}, gain, recording({scores})));
}

}  // namespace

extern const lua::OpTable lambda_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&lambda_loss>("lambda_loss", "scores, lists, metric, gain",
                           "LambdaRank's loss per list, for the change of a metric by each swap."),
     lua::op<&ranknet_loss>("ranknet_loss", "scores, lists, gain", "RankNet's loss per list.")}};

}  // namespace mr
