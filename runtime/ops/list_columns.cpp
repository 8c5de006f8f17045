#include "runtime/ops/list_columns.h"

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/failure.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/geometry.h"

namespace mr {
namespace {

struct ListOfRowKey {
  Device device;
  auto operator<=>(const ListOfRowKey&) const = default;
};

/// Returns the number of each row's list, counted from 1.
const Tensor& list_of_row(const Lists& lists, Device device) {
  return lists.cached<Tensor>(ListOfRowKey{device}, [&] {
    std::vector<int64_t> numbers;
    numbers.reserve(static_cast<size_t>(lists.rows()));
    for (int64_t l = 0; l < lists.count(); ++l) numbers.insert(numbers.end(), lists.sizes()[l], l + 1);
    return Tensor::from(numbers, device);
  });
}

struct InverseSizeKey {
  Device device;
  Dtype dtype;
  auto operator<=>(const InverseSizeKey&) const = default;
};

/// Returns 1 / size of each list; 0 for an empty list.
const Tensor& inverse_sizes(const Lists& lists, Device device, Dtype dtype) {
  return lists.cached<Tensor>(InverseSizeKey{device, dtype}, [&] {
    std::vector<double> inverse;
    for (const int64_t n : lists.sizes()) inverse.push_back(n > 0 ? 1 / static_cast<double>(n) : 0);
    return Tensor::from(inverse).to(dtype).to(device);
  });
}

Shape per_list(const Tensor& x, const Lists& lists) {
  Shape shape = x.shape();
  shape.set(0, lists.count());
  return shape;
}

Tensor summed(const Tensor& x, const Lists& lists) {
  Tensor out = Tensor::empty(per_list(x, lists), x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .list_column_sum(lists.count(), {.in = x.span<const Real>(),
                                         .lists = lists.view(x.device()),
                                         .width = x.shape().stride(0),
                                         .out = out.span<Real>()});
  });
  return out;
}

/// Returns the largest entry of each column per list, and its position among all entries, counted from 0.
std::pair<Tensor, Tensor> largest(const Tensor& x, const Lists& lists) {
  Tensor out = Tensor::empty(per_list(x, lists), x.dtype(), x.device());
  Tensor at = Tensor::empty(out.shape(), Dtype::int64, x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device())
        .list_column_max(lists.count(), {.in = x.span<const Real>(),
                                         .lists = lists.view(x.device()),
                                         .width = x.shape().stride(0),
                                         .out = out.span<Real>(),
                                         .at = at.span<int64_t>()});
  });
  return {out, at};
}

Tensor exponential(const Tensor& x) {
  Tensor out = Tensor::empty(x.shape(), x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(x.device()).exp(x.entries(), {x.span<const Real>(), out.span<Real>()});
  });
  return out;
}

}  // namespace

bool has_columns(const Tensor& x, const Lists& lists) {
  return x.dims() >= 2 && x.size(0) == lists.rows() && x.shape().stride(0) != 1;
}

Tensor column_sum(const Tensor& x, const Lists& lists) {
  return record("lists:sum", summed(x, lists), {x},
                [lists](const Tensor& g) -> Gradients { return {spread_rows(g, lists)}; });
}

Tensor column_mean(const Tensor& x, const Lists& lists) {
  Shape shape = x.shape();
  for (int d = 0; d < x.dims(); ++d) shape.set(d, d == 0 ? lists.count() : 1);
  return ops::mul(column_sum(x, lists), inverse_sizes(lists, x.device(), x.dtype()).viewed(shape));
}

Tensor column_max(const Tensor& x, const Lists& lists) {
  const auto [out, at] = largest(x, lists);
  return record("lists:max", out, {x}, [at = at, shape = x.shape()](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::zeros(shape, g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .list_max_vjp(g.entries(),
                        {.upstream = g.span<const Real>(), .at = at.span<const int64_t>(), .out = gx.span<Real>()});
    });
    return {gx};
  });
}

Tensor column_softmax(const Tensor& x, const Lists& lists) {
  const Tensor data = x.data();
  const Tensor powers = exponential(ops::sub(data, spread_rows(largest(data, lists).first, lists)));
  const Tensor out = ops::div(powers, spread_rows(summed(powers, lists), lists));
  return record("lists:softmax", out, {x}, [y = out, lists](const Tensor& g) -> Gradients {
    const Tensor inner = spread_rows(summed(ops::mul(y, g), lists), lists);
    return {ops::mul(y, ops::sub(g, inner))};
  });
}

Tensor spread_rows(const Tensor& v, const Lists& lists) {
  const Tensor out = ops::rows(v.data(), list_of_row(lists, v.device()));
  return record("lists:spread", out, {v}, [lists](const Tensor& g) -> Gradients { return {summed(g, lists)}; });
}

}  // namespace mr
