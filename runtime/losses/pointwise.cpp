// Pointwise losses of judged lists: the mean over a list's rows, one value per list.
#include "kernels/losses/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/losses/list_loss.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/matmul.h"

namespace mr {
namespace {

/// Computes a pointwise loss. kernel(table) returns the loss's kernel from the device's table of kernels. `form`
/// computes the cost of one row from its score and grade.
template <class Pick, class Form>
Tensor pointwise(const char* name, const Tensor& scores, const Lists& lists, Pick kernel, Form form) {
  check_scores(name, scores, lists);
  const LossAndSlope made(scores, lists, recording({scores}));
  const Device device = scores.device();
  with_real(scores.dtype(), [&]<class Real>() {
    kernel(kernels<RowLossKernels<Real>>(device))(lists.count(),
                                                  {.form = form,
                                                   .scores = scores.data().span<const Real>(),
                                                   .relevance = lists.relevance(device).span<const float>(),
                                                   .lists = lists.view(device),
                                                   .value = made.value.span<Real>(),
                                                   .derivative = made.slopes<Real>()});
  });
  return recorded(name, scores, lists, made);
}

Tensor squared_error_loss(const Tensor& scores, const Lists& lists) {
  return pointwise(
      "squared_error_loss", scores, lists, [](const auto& table) { return table.squared_error; }, SquaredError{});
}

Tensor binary_cross_entropy_loss(const Tensor& scores, const Lists& lists, double relevant) {
  check::positive("relevant", relevant);
  return pointwise(
      "binary_cross_entropy_loss", scores, lists, [](const auto& table) { return table.binary_cross_entropy; },
      BinaryCrossEntropy{relevant});
}

Tensor squared_hinge_loss(const Tensor& scores, const Lists& lists, double relevant) {
  check::positive("relevant", relevant);
  return pointwise(
      "squared_hinge_loss", scores, lists, [](const auto& table) { return table.squared_hinge; },
      SquaredHinge{relevant});
}

Tensor ordinal_loss(const Tensor& scores, const Lists& lists, const Tensor& thresholds) {
  check_scores("ordinal_loss", scores, lists);
  if (thresholds.dims() != 1 || thresholds.entries() == 0)
    throw ArgumentError("thresholds", "shape " + thresholds.shape().text() + ", expected one number for each grade");
  check::same_kind("thresholds", thresholds, "scores", scores);
  check::not_nan("ordinal_loss", "thresholds", thresholds);
  const LossAndSlope made(scores, lists, recording({scores, thresholds}));
  const Device device = scores.device();
  Tensor by_threshold;
  if (made.derivative.defined())
    by_threshold = Tensor::empty({lists.count(), thresholds.entries()}, scores.dtype(), device);
  with_real(scores.dtype(), [&]<class Real>() {
    kernels<RowLossKernels<Real>>(device).ordinal(
        lists.count(), {.thresholds = thresholds.data().span<const Real>(),
                        .scores = scores.data().span<const Real>(),
                        .relevance = lists.relevance(device).span<const float>(),
                        .lists = lists.view(device),
                        .value = made.value.span<Real>(),
                        .derivative = made.slopes<Real>(),
                        .by_threshold = by_threshold.defined() ? by_threshold.span<Real>() : Span<Real>{}});
  });
  return record("ordinal_loss", made.value, {scores, thresholds},
                [derivative = made.derivative, by_threshold, lists](const Tensor& upstream) -> Gradients {
                  const Tensor row = upstream.viewed({1, upstream.entries()});
                  return {times_upstream(derivative, lists, upstream),
                          product(row, false, by_threshold, false).viewed({by_threshold.size(1)})};
                });
}

}  // namespace

extern const lua::OpTable pointwise_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&squared_error_loss>("squared_error_loss", "scores, lists",
                                  "Mean over a list's rows of the squared difference of score and grade."),
     lua::op<&binary_cross_entropy_loss>("binary_cross_entropy_loss", "scores, lists, relevant",
                                         "Mean over a list's rows of the cross entropy of sigma(score) and relevance."),
     lua::op<&squared_hinge_loss>("squared_hinge_loss", "scores, lists, relevant",
                                  "Mean over a list's rows of the squared hinge loss of relevance."),
     lua::op<&ordinal_loss>("ordinal_loss", "scores, lists, thresholds",
                            "Mean over a list's rows of the cross entropies of cumulative logits.")}};

}  // namespace mr
