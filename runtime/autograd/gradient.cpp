// Sums gradients: dense ones, and sparse ones, which store only the rows that are not zero.
#include "kernels/tensor/rows.h"
#include "kernels/tensor/sums_cpu.h"
#include "runtime/autograd/merged.h"
#include "runtime/autograd/number_groups.h"

namespace mr {
namespace {

Tensor joined(const Tensor& a, const Tensor& b) {
  Shape shape = a.shape();
  shape.set(0, a.size(0) + b.size(0));
  Tensor out = Tensor::empty(shape, a.dtype(), a.device());
  with_any(a.dtype(), [&]<class T>() {
    const auto& table = kernels<MoveKernels<T>>(a.device());
    table.strided_put(a.entries(), {.in = a.span<T>(), .out = out.span<T>()});
    table.strided_put(b.entries(), {.in = b.span<T>(), .out = out.span<T>(), .shift = a.entries()});
  });
  return out;
}

Tensor sum_of(const Tensor& a, const Tensor& b) {
  Tensor out = Tensor::empty(a.shape(), a.dtype(), a.device());
  with_real(a.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(a.device())
        .add(a.entries(), {.a = a.span<Real>(), .b = b.span<Real>(), .out = out.span<Real>()});
  });
  return out;
}

/// Allocates the values of a merged sparse gradient, with one row for each group of equal row numbers. The values are
/// not set yet.
Tensor sums_of(const NumberGroups& rows, const Tensor& values) {
  Shape shape = values.shape();
  shape.set(0, rows.numbers.entries());
  return Tensor::empty(shape, values.dtype(), values.device());
}

}  // namespace

Gradient merged(const Gradient& gradient) {
  if (gradient.once) return gradient;
  const NumberGroups rows = group_numbers(gradient.rows);
  const Tensor values = sums_of(rows, gradient.values);
  with_real(values.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(values.device())
        .sum_runs(values.entries(), {.in = gradient.values.span<Real>(),
                                     .order = rows.order.span<const int64_t>(),
                                     .starts = rows.starts.span<const int64_t>(),
                                     .out = values.span<Real>(),
                                     .width = values.shape().stride(0)});
  });
  return {rows.numbers, values, true};
}

Gradient merged_products(const Tensor& rows, const Tensor& scale, const Tensor& values) {
  const NumberGroups groups = group_numbers(rows);
  const Tensor out = sums_of(groups, values);
  with_real(values.dtype(), [&]<class Real>() {
    cpu::sum_scaled_runs(groups.numbers.entries(), scale.span<const Real>().data,
                         SumRuns<Real>{.in = values.span<const Real>(),
                                       .order = groups.order.span<const int64_t>(),
                                       .starts = groups.starts.span<const int64_t>(),
                                       .out = out.span<Real>(),
                                       .width = values.size(1)});
  });
  return {groups.numbers, out, true};
}

Tensor to_dense(const Gradient& gradient, const Shape& shape) {
  if (!gradient.sparse()) return gradient.dense;
  const Gradient once = merged(gradient);
  Tensor out = Tensor::zeros(shape, once.values.dtype(), once.values.device());
  with_any(out.dtype(), [&]<class T>() {
    kernels<MoveKernels<T>>(out.device())
        .put_rows(once.values.entries(), {.in = once.values.span<T>(),
                                          .index = {once.rows.span<int64_t>().data},
                                          .out = out.span<T>(),
                                          .width = shape.stride(0)});
  });
  return out;
}

Gradient add(const Gradient& a, const Gradient& b, const Shape& shape) {
  if (a.sparse() && b.sparse()) return {joined(a.rows, b.rows), joined(a.values, b.values)};
  return sum_of(to_dense(a, shape), to_dense(b, shape));
}

}  // namespace mr
