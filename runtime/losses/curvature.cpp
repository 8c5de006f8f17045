// Second derivatives of pairwise losses, on the CPU, where trees are grown.
#include "kernels/core/threads.h"
#include "kernels/losses/lambda_curvature.h"
#include "kernels/ranking/rows.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ops/check.h"
#include "runtime/ranking/metric.h"
#include "runtime/ranking/smooth.h"
#include "runtime/tensor/device_array.h"

namespace mr {
namespace {

template <class Swaps>
Tensor run(const Tensor& scores, const Ranking& ranking, const Swaps& swaps, double gain) {
  using Row = typename Swaps::Row;
  const Lists& lists = ranking.lists;
  const DeviceArray<Row> rows(lists.rows(), Device::cpu);
  const Tensor spare = Tensor::empty({lists.rows()}, Dtype::float64);
  const Tensor out = Tensor::zeros({lists.rows()}, Dtype::float64);
  const LambdaCurvature<Swaps> work{.of = {.places = ranking.placements(),
                                           .relevance = lists.relevance(Device::cpu).span<const float>(),
                                           .lists = lists.view(Device::cpu),
                                           .better = lists.relevant_rows(ranking.threshold, Device::cpu).view()},
                                    .swaps = swaps,
                                    .rows = rows.span(),
                                    .spare = spare.span<double>(),
                                    .scores = scores.span<const double>(),
                                    .gain = gain,
                                    .curvature = out.span<double>()};
  cpu::parallel_each(lists.count(), 1, [&](int64_t list) {
    cpu::check_interrupt();
    work(SerialGroup{}, list);
  });
  return out;
}

/// Scores where and as they are computed with.
Tensor taken(const Tensor& scores, const Lists& lists, double gain) {
  check::positive("gain", gain);
  check_scores("curvature", scores, lists);
  return scores.data().to(Device::cpu).to(Dtype::float64);
}

Tensor lambda_curvature(const Tensor& scores, const Lists& lists, const Metric& metric, double gain) {
  const Tensor here = taken(scores, lists, gain);
  check_complete(metric);
  if (metric.definition->swaps == nullptr)
    throw ArgumentError("metric", "'" + metric.name + "': what a swap of two rows changes is not known");
  const Ranking ranking = rank_rows(here, lists, Ties::stable, metric.threshold());
  const OwnedSwaps swaps = metric.definition->swaps(ranking, metric);
  return std::visit([&](const auto& views) { return run(here, ranking, views, gain); }, swaps.views);
}

Tensor ranknet_curvature(const Tensor& scores, const Lists& lists, double gain) {
  const Tensor here = taken(scores, lists, gain);
  return run(here, rank_rows(here, lists, Ties::stable, any_gain()), PairSwaps{}, gain);
}

}  // namespace

extern const lua::OpTable curvature_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&lambda_curvature>("lambda_curvature", "scores, lists, metric, gain",
                                "Second derivatives of LambdaRank's loss by each score alone; float64, on the CPU."),
     lua::op<&ranknet_curvature>("ranknet_curvature", "scores, lists, gain", "The same of RankNet's loss.")}};

}  // namespace mr
