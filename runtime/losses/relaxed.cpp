// Losses of relaxed rankings (SoftRank, NeuralNDCG, SoftSort, soft choices of the top k rows, projected ranks) and of
// each row's own score (CLiMF, TFMAP), one value per list.
#include "kernels/losses/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ranking/ideal.h"
#include "runtime/ranking/ranking.h"

namespace mr {
namespace {

template <class Pick>
Tensor of_own_scores(const char* name, const Tensor& scores, const Lists& lists, double relevant, Pick kernel) {
  check_scores(name, scores, lists);
  check::positive("relevant", relevant);
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  with_real(scores.dtype(), [&]<class Real>() {
    kernel(kernels<RowLossKernels<Real>>(device))(
        lists.count(), {.scores = scores.data().span<const Real>(),
                        .relevance = lists.relevance(device).span<const float>(),
                        .lists = lists.view(device),
                        .relevant = lists.relevant_rows(static_cast<float>(relevant), device).view(),
                        .value = made.value.span<Real>(),
                        .derivative = made.slopes<Real>()});
  });
  return recorded(name, scores, lists, made);
}

Tensor climf_loss(const Tensor& scores, const Lists& lists, double relevant) {
  return of_own_scores("climf_loss", scores, lists, relevant, [](const auto& table) { return table.climf; });
}

Tensor tfmap_loss(const Tensor& scores, const Lists& lists, double relevant) {
  return of_own_scores("tfmap_loss", scores, lists, relevant, [](const auto& table) { return table.tfmap; });
}

Tensor soft_rank_loss(const Tensor& scores, const Lists& lists, double sd, int64_t longest) {
  check_scores("soft_rank_loss", scores, lists);
  check::positive("sd", sd);
  for (size_t l = 0; l < lists.sizes().size(); ++l) {
    if (lists.sizes()[l] > longest)
      throw ArgumentError("lists", "list " + std::to_string(l + 1) + " has " + std::to_string(lists.sizes()[l]) +
                                       " rows, expected at most " + std::to_string(longest) +
                                       " (`longest`). The time of a list grows with the cube of its rows. Leave out "
                                       "such lists or raise `longest`");
  }
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  const Tensor spare = Tensor::empty({device == Device::cpu ? 0 : 5 * lists.rows()}, Dtype::float64, device);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<RowLossKernels<Real>>(device).soft_rank(lists.count(),
                                                    {.scores = scores.data().span<const Real>(),
                                                     .relevance = lists.relevance(device).span<const float>(),
                                                     .lists = lists.view(device),
                                                     .ideal = ideal_dcg(lists, device).span<const double>(),
                                                     .sd = sd,
                                                     .spare = spare.span<double>(),
                                                     .value = made.value.span<Real>(),
                                                     .derivative = made.slopes<Real>()});
  });
  return recorded("soft_rank_loss", scores, lists, made);
}

Tensor neural_ndcg_loss(const Tensor& scores, const Lists& lists, double tau, int64_t iterations, double tolerance) {
  check_scores("neural_ndcg_loss", scores, lists);
  check::positive("tau", tau);
  check::finite("tolerance", tolerance);
  if (iterations < 0 || iterations > 1000)
    throw ArgumentError("iterations", std::to_string(iterations) + ", expected 0 to 1000");
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  const int64_t slots =
      device == Device::cpu ? 0 : NeuralNdcgLoss<double>::slots(made.derivative.defined() ? iterations : 1);
  const Tensor spare = Tensor::empty({slots * lists.rows()}, Dtype::float64, device);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<RowLossKernels<Real>>(device).neural_ndcg(lists.count(),
                                                      {.scores = scores.data().span<const Real>(),
                                                       .relevance = lists.relevance(device).span<const float>(),
                                                       .lists = lists.view(device),
                                                       .ideal = ideal_dcg(lists, device).span<const double>(),
                                                       .tau = tau,
                                                       .iterations = iterations,
                                                       .tolerance = tolerance,
                                                       .spare = spare.span<double>(),
                                                       .value = made.value.span<Real>(),
                                                       .derivative = made.slopes<Real>()});
  });
  return recorded("neural_ndcg_loss", scores, lists, made);
}

constexpr Named<SoftTop> soft_tops[] = {{"precision", SoftTop::precision},
                                        {"recall", SoftTop::recall},
                                        {"hit", SoftTop::hit},
                                        {"cross_entropy", SoftTop::cross_entropy}};

Tensor soft_top_loss(const Tensor& scores, const Lists& lists, const std::string& of, int64_t k, double tau,
                     double relevant) {
  check_scores("soft_top_loss", scores, lists);
  check::positive("tau", tau);
  check::positive("relevant", relevant);
  if (k < 1) throw ArgumentError("k", std::to_string(k) + ", expected 1 or more");
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  const auto threshold = static_cast<float>(relevant);
  const Ranking ranking = rank_rows(scores.data(), lists, Ties::stable, threshold);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<RowLossKernels<Real>>(device).soft_top(lists.count(),
                                                   {.scores = scores.data().span<const Real>(),
                                                    .relevance = lists.relevance(device).span<const float>(),
                                                    .places = ranking.placements(),
                                                    .lists = lists.view(device),
                                                    .relevant = lists.relevant_rows(threshold, device).view(),
                                                    .k = k,
                                                    .tau = tau,
                                                    .threshold = threshold,
                                                    .of = value_of(soft_tops, "of", of),
                                                    .value = made.value.span<Real>(),
                                                    .derivative = made.slopes<Real>()});
  });
  return recorded("soft_top_loss", scores, lists, made);
}

Tensor projected_ndcg_loss(const Tensor& scores, const Lists& lists, double eps) {
  check_scores("projected_ndcg_loss", scores, lists);
  check::positive("eps", eps);
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  const Tensor order = order_of(rank_rows(scores.data(), lists, Ties::stable, 1));
  const Tensor spare = Tensor::empty({ProjectedNdcgLoss<double>::slots * lists.rows()}, Dtype::float64, device);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<RowLossKernels<Real>>(device).projected_ndcg(lists.count(),
                                                         {.scores = scores.data().span<const Real>(),
                                                          .relevance = lists.relevance(device).span<const float>(),
                                                          .order = order.span<const int64_t>(),
                                                          .lists = lists.view(device),
                                                          .ideal = ideal_dcg(lists, device).span<const double>(),
                                                          .eps = eps,
                                                          .spare = spare.span<double>(),
                                                          .value = made.value.span<Real>(),
                                                          .derivative = made.slopes<Real>()});
  });
  return recorded("projected_ndcg_loss", scores, lists, made);
}

Tensor softsort_ndcg_loss(const Tensor& scores, const Lists& lists, int64_t power, double tau) {
  check_scores("softsort_ndcg_loss", scores, lists);
  check::positive("tau", tau);
  if (power != 1 && power != 2) throw ArgumentError("power", std::to_string(power) + ", expected 1 or 2");
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  const Tensor order = order_of(rank_rows(scores.data(), lists, Ties::stable, 1));
  const Tensor spare = Tensor::empty({SoftSortNdcgLoss<double>::slots * lists.rows()}, Dtype::float64, device);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<RowLossKernels<Real>>(device).softsort_ndcg(lists.count(),
                                                        {.scores = scores.data().span<const Real>(),
                                                         .relevance = lists.relevance(device).span<const float>(),
                                                         .order = order.span<const int64_t>(),
                                                         .lists = lists.view(device),
                                                         .ideal = ideal_dcg(lists, device).span<const double>(),
                                                         .power = power,
                                                         .tau = tau,
                                                         .spare = spare.span<double>(),
                                                         .value = made.value.span<Real>(),
                                                         .derivative = made.slopes<Real>()});
  });
  return recorded("softsort_ndcg_loss", scores, lists, made);
}

}  // namespace

extern const lua::OpTable relaxed_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&climf_loss>("climf_loss", "scores, lists, relevant", "CLiMF's loss per list."),
     lua::op<&tfmap_loss>("tfmap_loss", "scores, lists, relevant", "TFMAP's loss per list."),
     lua::op<&soft_rank_loss>("soft_rank_loss", "scores, lists, sd, longest", "SoftRank's negative nDCG per list."),
     lua::op<&neural_ndcg_loss>("neural_ndcg_loss", "scores, lists, tau, iterations, tolerance",
                                "NeuralNDCG's loss per list: negative nDCG of a relaxed ranking."),
     lua::op<&soft_top_loss>("soft_top_loss", "scores, lists, of, k, tau, relevant",
                             "A loss of DFTopK's mask per list: precision, recall, hit or cross_entropy."),
     lua::op<&projected_ndcg_loss>("projected_ndcg_loss", "scores, lists, eps",
                                   "Negative nDCG per list of ranks projected onto the permutahedron."),
     lua::op<&softsort_ndcg_loss>("softsort_ndcg_loss", "scores, lists, power, tau",
                                  "Negative nDCG per list of SoftSort's relaxed permutation matrix.")}};

}  // namespace mr
