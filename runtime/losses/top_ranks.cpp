// The loss Top-N-Rank, which depends on the first N ranks of each list. One value per list.
#include "kernels/losses/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ranking/ranking.h"
#include "runtime/ranking/smooth.h"

namespace mr {
namespace {

Tensor top_n_rank_loss(const Tensor& scores, const Lists& lists, int64_t first, bool relu) {
  check_scores("top_n_rank_loss", scores, lists);
  if (first < 1) throw ArgumentError("n", std::to_string(first) + ", expected 1 or more");
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, any_gain());
  const Tensor slopes = Tensor::empty({lists.rows()}, Dtype::float64, device);
  with_real(scores.dtype(), [&]<class Real>() {
    const auto& table = kernels<RowLossKernels<Real>>(device);
    const auto run = [&](auto kernel) {
      kernel(lists.count(), {.scores = scores.data().span<const Real>(),
                             .relevance = lists.relevance(device).span<const float>(),
                             .places = ranking.placements(),
                             .lists = lists.view(device),
                             .first = first,
                             .slopes = slopes.span<double>(),
                             .value = made.value.span<Real>(),
                             .derivative = made.slopes<Real>()});
    };
    relu ? run(table.top_relu) : run(table.top_sigmoid);
  });
  return recorded("top_n_rank_loss", scores, lists, made);
}

}  // namespace

extern const lua::OpTable top_ranks_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&top_n_rank_loss>("top_n_rank_loss", "scores, lists, n, relu",
                               "Top-N-Rank's loss per list: negative DCG of the rows that are now the first n.")}};

}  // namespace mr
