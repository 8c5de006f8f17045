// Sums of gradients, dense and sparse by rows.
#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"

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

}  // namespace

Gradient merged(const Gradient& gradient) {
  if (gradient.once) return gradient;
  const auto rows = gradient.rows.to_vector<int64_t>();
  const auto n = static_cast<int64_t>(rows.size());
  std::vector<std::pair<int64_t, int64_t>> sorted(rows.size());  // a row, and its place
  for (int64_t i = 0; i < n; ++i) sorted[i] = {rows[i], i};
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> order(rows.size()), distinct, starts;
  for (int64_t i = 0; i < n; ++i) {
    order[i] = sorted[i].second;
    if (i > 0 && sorted[i].first == sorted[i - 1].first) continue;
    distinct.push_back(sorted[i].first);
    starts.push_back(i);
  }
  starts.push_back(n);
  const Device device = gradient.values.device();
  Shape shape = gradient.values.shape();
  shape.set(0, static_cast<int64_t>(distinct.size()));
  const Tensor values = Tensor::empty(shape, gradient.values.dtype(), device);
  const Tensor order_there = Tensor::from(order, device);
  const Tensor starts_there = Tensor::from(starts, device);
  with_real(values.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(device).sum_runs(values.entries(), {.in = gradient.values.span<Real>(),
                                                                         .order = order_there.span<const int64_t>(),
                                                                         .starts = starts_there.span<const int64_t>(),
                                                                         .out = values.span<Real>(),
                                                                         .width = shape.stride(0)});
  });
  return {Tensor::from(distinct, device), values, true};
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
