// Pairwise losses of judged lists, one value per list.
#include "kernels/losses/rows.h"
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/check.h"
#include "runtime/ranking/ideal.h"
#include "runtime/ranking/ranking.h"
#include "runtime/ranking/smooth.h"

namespace mr {
namespace {

LambdaMetric to_lambda_metric(const std::string& name) {
  if (name == "pairs") return LambdaMetric::pairs;
  if (name == "ndcg") return LambdaMetric::ndcg;
  if (name == "ap") return LambdaMetric::ap;
  if (name == "rr") return LambdaMetric::rr;
  if (name == "rbp") return LambdaMetric::rbp;
  if (name == "nrbp") return LambdaMetric::nrbp;
  throw ArgumentError("metric", "'" + name + "', expected 'pairs', 'ndcg', 'ap', 'rr', 'rbp' or 'nrbp'");
}

/// The value, and beside it the derivative by the scores where that is asked for.
std::pair<Tensor, Tensor> value_and_derivative(const Tensor& scores, const Lists& lists, LambdaMetric metric, double p,
                                               double gain, bool derivative) {
  const bool graded = metric == LambdaMetric::pairs || metric == LambdaMetric::ndcg;
  const Device device = scores.device();
  const float threshold = graded ? any_gain() : 1;
  const Ranking ranking = rank_rows(scores, lists, Ties::stable, threshold);
  const Storage rows(lists.rows() * static_cast<int64_t>(sizeof(LambdaRow)), device);
  const Tensor sums = Tensor::empty({metric == LambdaMetric::ap ? lists.rows() : 0}, Dtype::float64, device);
  std::pair<Tensor, Tensor> out{Tensor::empty({lists.count()}, scores.dtype(), device), Tensor()};
  if (derivative) out.second = Tensor::empty({lists.rows()}, scores.dtype(), device);
  const LambdaRows of{
      ranking.placements(),
      lists.relevance(device).span<const float>(),
      lists.view(device),
      lists.relevant_rows(threshold, device).view(),
      metric,
      p,
      metric == LambdaMetric::ndcg ? ideal_dcg(lists, device).span<const double>() : Span<const double>{},
      {static_cast<LambdaRow*>(rows.data()), lists.rows()},
      sums.span<double>()};
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<LambdaKernels<Real>>(device).lambda_loss(
        lists.count(), {of, scores.span<const Real>(), static_cast<Real>(gain), out.first.span<Real>(),
                        derivative ? out.second.span<Real>() : Span<Real>{}});
  });
  return out;
}

/// The derivative of each list's value, times the derivative by that value.
Tensor times_upstream(const Tensor& derivative, const Lists& lists, const Tensor& upstream) {
  Tensor out = Tensor::empty(derivative.shape(), derivative.dtype(), derivative.device());
  with_real(derivative.dtype(), [&]<class Real>() {
    const auto& table = kernels<ArithmeticKernels<Real>>(derivative.device());
    table.spread(lists.count(),
                 {upstream.span<const Real>(), lists.view(derivative.device()), false, out.span<Real>()});
    table.mul(out.entries(), {out.span<const Real>(), derivative.span<const Real>(), out.span<Real>(), {}, {}});
  });
  return out;
}

Tensor lambda_loss(const Tensor& scores, const Lists& lists, const std::string& metric, double p, double gain) {
  if (!(p > 0 && p < 1)) throw ArgumentError("p", std::to_string(p) + ", expected a number between 0 and 1");
  check::positive("gain", gain);
  const auto [value, derivative] =
      value_and_derivative(scores.data(), lists, to_lambda_metric(metric), p, gain, recording({scores}));
  return record("lambda_loss", value, {scores}, [derivative = derivative, lists](const Tensor& upstream) -> Gradients {
    return {times_upstream(derivative, lists, upstream)};
  });
}

}  // namespace

extern const lua::OpTable lambda_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&lambda_loss>(
        "lambda_loss", "scores, lists, metric, p, gain",
        "LambdaRank's loss per list, for the change of a metric by each swap; 'pairs': RankNet's.")}};

}  // namespace mr
