#include "runtime/ops/gather.h"

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/check.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/geometry.h"

namespace mr {
namespace {

/// Where entries of the index begin in a tensor of that shape: as they lie, but for dimension d.
Broadcast base_of(const Shape& index, const Shape& shape, int d) {
  std::vector<int64_t> strides;
  for (int e = 0; e < shape.dims(); ++e) strides.push_back(e == d ? 0 : shape.stride(e));
  return strided(index, strides);
}

/// A tensor of this shape to which each value is added where its index says; in the order of the values, so that the
/// result is the same every time.
Tensor added_along(const Tensor& values, const Shape& shape, int d, const Tensor& index) {
  const auto numbers = index.to_vector<int64_t>();
  const Broadcast base = base_of(index.shape(), shape, d);
  const int64_t step = shape.stride(d);
  std::vector<int64_t> places(numbers.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = base(static_cast<int64_t>(i)) + (numbers[i] - 1) * step + 1;
  const Gradient sums(Tensor::from(places, values.device()), values.viewed({values.entries()}));
  return to_dense(sums, {shape.entries()}).viewed(shape);
}

/// The dimension, counted from 0.
int check_along(const Tensor& x, int64_t dim, const Tensor& index) {
  const int d = check::dimension("dim", x, dim);
  check::type("index", index, Dtype::int64);
  if (index.device() != x.device())
    throw ArgumentError("index", "index is on another device than the tensor: move one with :to()");
  bool fits = index.dims() == x.dims();
  for (int e = 0; fits && e < x.dims(); ++e) fits = e == d || index.size(e) <= x.size(e);
  if (!fits) {
    throw ArgumentError("index", "index has shape " + index.shape().text() + ", expected one that a tensor of shape " +
                                     x.shape().text() + " has, but for dimension " + std::to_string(dim));
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
  if (x.dims() != 2) throw ArgumentError("self", "it has shape " + x.shape().text() + ", expected a matrix");
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
                       "Entries along a dimension at the numbers in index (int64, counted from 1), which has as many "
                       "dimensions: x:gather(2, i)[r][c] is x[r][i[r][c]]."),
        op<&scatter_add_of>("scatter_add", "self, dim, index, values",
                            "A copy with values added along a dimension where index says, the counterpart of gather; "
                            "numbers may repeat and add up, in the same order every time."),
        op<&embedding_of>("embedding", "self, index",
                          "Rows of a matrix at the numbers in index (int64, counted from 1, any shape), whose shape "
                          "the result has with one dimension more; its derivative is sparse."),
    }};

}  // namespace mr
