// Sums, means, extremes and softmax over all entries or along a dimension.
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/row_products.h"

namespace mr {
namespace {

struct Reduction {
  Runs runs;
  Shape out;
};

Reduction reduction(const Tensor& x, std::optional<int64_t> dim) {
  check::floating("self", x);
  if (!dim) return {one_run(x.entries()), {}};
  const int d = check::dimension("dim", x, *dim);
  return {runs_along(x.shape(), d), x.shape().without(d)};
}

/// The derivative of a sum: gives every entry the derivative of the sum that it is part of, times `scale`.
Tensor stretched(const Tensor& g, const Shape& shape, std::optional<int64_t> dim, double scale) {
  Shape kept = shape;
  if (dim) kept.set(static_cast<int>(*dim) - 1, 1);
  const Tensor from = g.viewed(dim ? kept : Shape{});
  const Tensor factor = Tensor::full({}, scale, g.dtype(), g.device());
  Tensor out = Tensor::empty(shape, g.dtype(), g.device());
  with_real(g.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(g.device())
        .mul(out.entries(), {.a = from.span<const Real>(),
                             .b = factor.span<const Real>(),
                             .out = out.span<Real>(),
                             .from_a = broadcast_of(from.shape(), shape),
                             .from_b = broadcast_of(factor.shape(), shape)});
  });
  return out;
}

Tensor sum_scaled(const char* name, const Tensor& x, std::optional<int64_t> dim, double scale, const Reduction& by) {
  Tensor out = Tensor::empty(by.out, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .reduce_sum(out.entries(),
                    {.in = x.span<const Real>(), .out = out.span<Real>(), .runs = by.runs, .scale = scale});
  });
  // A sum of the products of two matrices along their rows is recorded as an inner product of rows, which has the same
  // derivatives and a cheaper backward pass.
  const bool may_be_products = scale == 1 && x.dims() == 2 && dim == 2 && x.device() == Device::cpu;
  if (const auto factors = may_be_products ? factors_of(x) : std::nullopt)
    return record_row_products(name, out, factors->first, factors->second);
  return record(name, out, {x}, [shape = x.shape(), dim, scale](const Tensor& g) -> Gradients {
    return {stretched(g, shape, dim, scale)};
  });
}

Tensor sum_of(const Tensor& x, std::optional<int64_t> dim) { return sum_scaled("sum", x, dim, 1, reduction(x, dim)); }

Tensor mean_of(const Tensor& x, std::optional<int64_t> dim) {
  const Reduction by = reduction(x, dim);
  return sum_scaled("mean", x, dim, 1 / static_cast<double>(by.runs.length), by);
}

/// Returns the sum of all entries divided by a number: a batch's loss from its lists' losses.
Tensor sum_over(const Tensor& x, double divisor) {
  const Reduction by = reduction(x, std::nullopt);
  const Tensor total = Tensor::empty(by.out, x.dtype(), x.device());
  const Tensor over = Tensor::full({}, divisor, x.dtype(), x.device());
  Tensor out = Tensor::empty(by.out, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    const auto& table = kernels<ArithmeticKernels<Real>>(x.device());
    table.reduce_sum(1, {.in = x.span<const Real>(), .out = total.span<Real>(), .runs = by.runs, .scale = 1});
    table.div(1, {.a = total.span<const Real>(), .b = over.span<const Real>(), .out = out.span<Real>()});
  });
  return record("sum_over", out, {x}, [shape = x.shape(), total, over](const Tensor& g) -> Gradients {
    const Tensor by_total = Tensor::empty(g.shape(), g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .div_vjp(1, {.a = total.span<const Real>(),
                       .b = over.span<const Real>(),
                       .upstream = g.span<const Real>(),
                       .by_a = by_total.span<Real>(),
                       .by_b = {},
                       .from_a = {},
                       .from_b = {}});
    });
    return {stretched(by_total, shape, std::nullopt, 1)};
  });
}

std::pair<Tensor, Tensor> extreme_and_index(const Tensor& x, const Reduction& by, bool largest) {
  if (by.runs.length == 0)
    throw ArgumentError(
        "self", std::string("the tensor has no entries, so it has no ") + (largest ? "largest" : "smallest") + " one");
  Tensor out = Tensor::empty(by.out, x.dtype(), x.device());
  Tensor at = Tensor::empty(by.out, Dtype::int64, x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .reduce_max(out.entries(), {.in = x.span<const Real>(),
                                    .out = out.span<Real>(),
                                    .at = at.span<int64_t>(),
                                    .runs = by.runs,
                                    .sign = largest ? Real(1) : Real(-1)});
  });
  return {out, at};
}

Tensor extreme(const Tensor& x, std::optional<int64_t> dim, bool largest) {
  const Reduction by = reduction(x, dim);
  const auto [out, at] = extreme_and_index(x, by, largest);
  const char* const name = largest ? "max" : "min";
  return record(name, out, {x}, [at = at, runs = by.runs, shape = x.shape()](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::zeros(shape, g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .reduce_max_vjp(
              g.entries(),
              {.upstream = g.span<const Real>(), .at = at.span<const int64_t>(), .out = gx.span<Real>(), .runs = runs});
    });
    return {gx};
  });
}

Tensor max_of(const Tensor& x, std::optional<int64_t> dim) { return extreme(x, dim, true); }
Tensor min_of(const Tensor& x, std::optional<int64_t> dim) { return extreme(x, dim, false); }
Tensor argmax_of(const Tensor& x, std::optional<int64_t> dim) {
  return extreme_and_index(x, reduction(x, dim), true).second;
}
Tensor argmin_of(const Tensor& x, std::optional<int64_t> dim) {
  return extreme_and_index(x, reduction(x, dim), false).second;
}

Tensor softmax_of(const Tensor& x, int64_t dim) {
  const Reduction by = reduction(x, dim);
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  const int64_t runs = by.out.entries();
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .softmax(runs, {.in = x.span<const Real>(), .out = out.span<Real>(), .runs = by.runs});
  });
  // Captures `out`, which has no graph node yet: if the node owned a tensor that owns the node, there would be a
  // reference cycle.
  return record("softmax", out, {x}, [y = out, by = by.runs, runs](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::empty(g.shape(), g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .softmax_vjp(
              runs, {.y = y.span<const Real>(), .upstream = g.span<const Real>(), .out = gx.span<Real>(), .runs = by});
    });
    return {gx};
  });
}

}  // namespace

Tensor ops::sum(const Tensor& x, std::optional<int64_t> dim) { return sum_of(x, dim); }
Tensor ops::mean(const Tensor& x, std::optional<int64_t> dim) { return mean_of(x, dim); }

using lua::op;
extern const lua::OpTable reduce_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {
        op<&sum_of>("sum", "self, dim?", "Sum of all entries, or along a dimension, with float64 accumulators."),
        op<&sum_over>("sum_over", "self, divisor", "Sum of all entries, divided by a number."),
        op<&mean_of>("mean", "self, dim?", "Mean of all entries, or along a dimension."),
        op<&max_of>("max", "self, dim?",
                    "Largest of all entries, or along a dimension. Its derivative goes to the first of equal entries."),
        op<&min_of>(
            "min", "self, dim?",
            "Smallest of all entries, or along a dimension. Its derivative goes to the first of equal entries."),
        op<&argmax_of>("argmax", "self, dim?", "Position of the largest entry, counted from 1; int64."),
        op<&argmin_of>("argmin", "self, dim?", "Position of the smallest entry, counted from 1; int64."),
        op<&softmax_of>("softmax", "self, dim", "Softmax along a dimension."),
    }};

}  // namespace mr
