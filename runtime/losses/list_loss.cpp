#include "runtime/losses/list_loss.h"

#include "kernels/losses/rows.h"
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/argument_checks.h"

namespace mr {

void check_scores(const char* operation, const Tensor& scores, const Lists& lists) {
  check::per_row("scores", scores, lists);
  check::not_nan(operation, "scores", scores);
}

LossAndSlope::LossAndSlope(const Tensor& scores, const Lists& lists, bool with_derivative)
    : value(Tensor::empty({lists.count()}, scores.dtype(), scores.device())) {
  if (with_derivative) derivative = Tensor::empty({lists.rows()}, scores.dtype(), scores.device());
}

Tensor times_upstream(const Tensor& derivative, const Lists& lists, const Tensor& upstream) {
  Tensor out = Tensor::empty(derivative.shape(), derivative.dtype(), derivative.device());
  with_real(derivative.dtype(), [&]<class Real>() {
    const auto& table = kernels<ArithmeticKernels<Real>>(derivative.device());
    table.spread(lists.count(), {.in = upstream.span<const Real>(),
                                 .lists = lists.view(derivative.device()),
                                 .mean = false,
                                 .out = out.span<Real>()});
    kernels<RowLossKernels<Real>>(derivative.device())
        .times_slope(out.entries(), {derivative.span<const Real>(), out.span<const Real>(), out.span<Real>()});
  });
  return out;
}

Tensor recorded(const char* name, const Tensor& scores, const Lists& lists, const LossAndSlope& made) {
  return record(name, made.value, {scores}, [derivative = made.derivative, lists](const Tensor& upstream) -> Gradients {
    return {times_upstream(derivative, lists, upstream)};
  });
}

namespace {

Tensor product_with_slope(const Tensor& value, const Tensor& slope) {
  Tensor out = Tensor::empty(value.shape(), value.dtype(), value.device());
  with_real(value.dtype(), [&]<class Real>() {
    kernels<RowLossKernels<Real>>(value.device())
        .times_slope(value.entries(), {value.span<const Real>(), slope.span<const Real>(), out.span<Real>()});
  });
  return out;
}

Tensor times_slope(const Tensor& value, const Tensor& slope) {
  check::floating("value", value);
  check::same_shape("slope", slope, "value", value);
  check::same_kind("slope", slope, "value", value);
  return record(
      "times_slope", product_with_slope(value.data(), slope.data()), {value},
      [slope = slope.data()](const Tensor& upstream) -> Gradients { return {product_with_slope(upstream, slope)}; });
}

/// Returns `values`, which are a loss of `scores` with one value per list. Throws an error about `scores` if a value is
/// NaN.
Tensor checked_values(const Tensor& values, const Tensor& scores) {
  check::floating("values", values);
  check::floating("scores", scores);
  check::not_nan("loss", "scores", scores);
  try {
    check::not_nan("loss", "values", values);
  } catch (const ArgumentError&) {
    throw ArgumentError("scores",
                        "infinite scores make the value of a list NaN, because the loss subtracts one from "
                        "another. Pass finite scores");
  }
  return values;
}

}  // namespace

extern const lua::OpTable list_loss_functions{
    lua::OpTable::functions,
    nullptr,
    {lua::op<&times_slope>(
         "times_slope", "value, slope",
         "value * slope, or 0 if the slope is 0, even if the value is infinite. The slope has no gradient."),
     lua::op<&checked_values>("checked_values", "values, scores",
                              "The values of lists. An error if one of them or of the scores is NaN.")}};

}  // namespace mr
