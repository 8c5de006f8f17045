#include "runtime/ops/gather.h"

#include <algorithm>

#include "kernels/core/threads.h"
#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/geometry.h"

namespace mr {
namespace {

/// Maps each entry of an index tensor (shape `index`) to an entry of another tensor (shape `shape`), given by its
/// offset: the entry with the same coordinates, except that the coordinate in dimension d is 0.
Broadcast base_of(const Shape& index, const Shape& shape, int d) {
  std::vector<int64_t> strides;
  for (int e = 0; e < shape.dims(); ++e) strides.push_back(e == d ? 0 : shape.stride(e));
  return strided(index, strides);
}

/// Adds each value to the entry of the result that `index` names along dimension d, on the GPU: the values are the rows
/// of a sparse gradient of one column, and repeated rows are added in order.
Tensor added_by_places(const Tensor& values, const Shape& shape, int d, const Tensor& index) {
  std::vector<int64_t> places = index.to_vector<int64_t>();
  const Broadcast base = base_of(index.shape(), shape, d);
  const int64_t step = shape.stride(d), n = index.entries();
  for (int64_t i = 0; i < n; ++i) places[i] = base(i) + (places[i] - 1) * step + 1;
  const Gradient sparse(Tensor::from(places, values.device()), values.viewed({n}));
  return to_dense(sparse, {shape.entries()}).viewed(shape);
}

/// Adds each value to the entry of `out` that `index` names along dimension d, on the CPU, in the same order as on the
/// GPU. `out` must contain zeros.
template <class Real>
void add_by_runs(const Tensor& values, const Tensor& index, int d, const Tensor& out) {
  const Runs from = runs_along(index.shape(), d);
  std::vector<int64_t> strides;
  for (int e = 0; e < out.dims(); ++e) {
    if (e != d) strides.push_back(out.shape().stride(e));
  }
  const Broadcast begin = strided(index.shape().without(d), strides);
  const int64_t n = out.size(d), step = out.shape().stride(d);
  const auto numbers = index.span<const int64_t>();
  const auto in = values.span<const Real>();
  const auto sums_out = out.span<Real>();
  const int64_t runs = index.shape().without(d).entries();
  cpu::parallel(runs, std::max<int64_t>(1, 4096 / std::max<int64_t>(1, n)), [&](int64_t first, int64_t last) {
    std::vector<double> sums(static_cast<size_t>(n));
    for (int64_t o = first; o < last; ++o) {
      std::fill(sums.begin(), sums.end(), 0.0);
      for (int64_t j = 0; j < from.length; ++j) sums[numbers[from(o, j)] - 1] += static_cast<double>(in[from(o, j)]);
      for (int64_t k = 0; k < n; ++k) sums_out[begin(o) + k * step] = static_cast<Real>(sums[k]);
    }
  });
}

/// Returns a tensor of the given shape to which each value is added at its index. Values are added in order, so the
/// result is the same on both devices.
Tensor added_along(const Tensor& values, const Shape& shape, int d, const Tensor& index) {
  if (values.device() == Device::cuda) return added_by_places(values, shape, d, index);
  Tensor out = Tensor::zeros(shape, values.dtype(), Device::cpu);
  with_real(out.dtype(), [&]<class Real>() { add_by_runs<Real>(values, index, d, out); });
  return out;
}

/// Checks the arguments of gather and scatter; returns the dimension counted from 0.
int check_along(const Tensor& x, int64_t dim, const Tensor& index) {
  const int d = check::dimension("dim", x, dim);
  check::type("index", index, Dtype::int64);
  if (index.device() != x.device())
    throw ArgumentError("index", "index is on another device than the tensor: move one with :to()");
  bool fits = index.dims() == x.dims();
  for (int e = 0; fits && e < x.dims(); ++e) fits = e == d || index.size(e) <= x.size(e);
  if (!fits) {
    throw ArgumentError("index", "index has shape " + index.shape().text() + ", expected " + std::to_string(x.dims()) +
                                     " dimensions, as the tensor of shape " + x.shape().text() +
                                     " has, and no larger sizes, except in dimension " + std::to_string(dim));
  }
  check::index("index", index, x.size(d));
  return d;
}

Tensor gather_of(const Tensor& x, int64_t dim, const Tensor& index) {
  const int d = check_along(x, dim, index);
  const Tensor out = taken_along(x, d, index);
  return record("gather", out, {x}, [shape = x.shape(), d, index](const Tensor& g) -> Gradients {
    return {added_along(g, shape, d, index)};
  });
}

Tensor scatter_add_of(const Tensor& x, int64_t dim, const Tensor& index, const Tensor& values) {
  check::floating("self", x);
  const int d = check_along(x, dim, index);
  check::same_kind("values", values, "self", x);
  check::same_shape("values", values, "index", index);
  const Tensor out = ops::add(x.data(), added_along(values, x.shape(), d, index));
  return record("scatter_add", out, {x, values}, [d, index](const Tensor& g) -> Gradients {
    return {g, taken_along(g, d, index)};
  });
}

Tensor embedding_of(const Tensor& x, const Tensor& index) {
  check::type("index", index, Dtype::int64);
  if (x.dims() != 2) throw ArgumentError("self", "the tensor has shape " + x.shape().text() + ", expected a matrix");
  Shape shape = index.shape();
  shape.append(x.size(1));
  return ops::reshape(ops::rows(x, index.viewed({index.entries()})), shape);
}

}  // namespace

Tensor taken_along(const Tensor& x, int d, const Tensor& index) {
  Tensor out = Tensor::empty(index.shape(), x.dtype(), x.device());
  with_any(x.dtype(), [&]<class T>() {
    kernels<MoveKernels<T>>(x.device())
        .gather_along(out.entries(), {.in = x.span<const T>(),
                                      .index = {index.span<const int64_t>().data},
                                      .out = out.span<T>(),
                                      .base = base_of(index.shape(), x.shape(), d),
                                      .step = x.shape().stride(d)});
  });
  return out;
}

Tensor put_along(const Tensor& values, const Shape& shape, int d, const Tensor& index) {
  Tensor out = Tensor::zeros(shape, values.dtype(), values.device());
  with_any(values.dtype(), [&]<class T>() {
    kernels<MoveKernels<T>>(values.device())
        .put_along(values.entries(), {.in = values.span<const T>(),
                                      .index = {index.span<const int64_t>().data},
                                      .out = out.span<T>(),
                                      .base = base_of(index.shape(), shape, d),
                                      .step = shape.stride(d)});
  });
  return out;
}

using lua::op;
extern const lua::OpTable gather_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {
        op<&gather_of>("gather", "self, dim, index",
                       "Entries along a dimension at the positions in index (int64, counted from 1, with as many "
                       "dimensions as the tensor): x:gather(2, i)[r][c] is x[r][i[r][c]]."),
        op<&scatter_add_of>("scatter_add", "self, dim, index, values",
                            "A copy with values added along a dimension at the positions in index, the reverse of "
                            "gather. Repeated positions add up, always in the same order."),
        op<&embedding_of>("embedding", "self, index",
                          "Rows of a matrix at the numbers in index (int64, counted from 1, any shape). The result has "
                          "the index's shape and one more dimension. The derivative is sparse."),
    }};

}  // namespace mr
