// Reshaping, slices and rows of tensors.
#include <algorithm>

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/geometry.h"
#include "runtime/ops/row_products.h"

namespace mr {
namespace {

/// Returns x with another shape. One size may be -1; it is computed from the others.
Tensor reshape_of(const Tensor& x, std::vector<int64_t> sizes) {
  const auto open = std::find(sizes.begin(), sizes.end(), -1);
  if (open != sizes.end()) {
    if (std::find(open + 1, sizes.end(), -1) != sizes.end())
      throw ArgumentError("sizes", "more than one size is -1, expected at most one");
    *open = 1;
    Shape others;
    for (const int64_t n : sizes) others.append(n);
    const int64_t known = others.entries();
    if (known == 0 || x.entries() % known != 0) {
      throw ArgumentError("sizes", "no size fits in place of -1: the other sizes multiply to " + std::to_string(known) +
                                       ", but the tensor of shape " + x.shape().text() +
                                       " has this many entries: " + std::to_string(x.entries()));
    }
    *open = x.entries() / known;
  }
  Shape shape;
  for (const int64_t n : sizes) shape.append(n);
  return ops::reshape(x, shape);
}

Tensor reshaped(const Tensor& x, const Shape& shape) {
  if (shape.entries() != x.entries()) {
    throw ArgumentError("sizes", "shape " + shape.text() + " has " + std::to_string(shape.entries()) +
                                     " entries, the tensor of shape " + x.shape().text() + " has " +
                                     std::to_string(x.entries()));
  }
  return record("reshape", x.viewed(shape), {x},
                [was = x.shape()](const Tensor& g) -> Gradients { return {g.viewed(was)}; });
}

Tensor strided_copy(const Tensor& x, const Shape& shape, const Broadcast& from, int64_t shift) {
  Tensor out = Tensor::empty(shape, x.dtype(), x.device());
  with_any(x.dtype(), [&]<class T>() {
    kernels<MoveKernels<T>>(x.device())
        .strided_copy(out.entries(), {.in = x.span<const T>(), .out = out.span<T>(), .from = from, .shift = shift});
  });
  return out;
}

Tensor transposed(const Tensor& x, int d, int e) {
  Shape shape = x.shape();
  shape.set(d, x.size(e));
  shape.set(e, x.size(d));
  std::vector<int64_t> strides;
  for (int f = 0; f < x.dims(); ++f) strides.push_back(x.shape().stride(f == d ? e : f == e ? d : f));
  return strided_copy(x, shape, strided(shape, strides), 0);
}

Tensor t_of(const Tensor& x) {
  if (x.dims() != 2) throw ArgumentError("self", "t() needs 2 dimensions, the tensor has shape " + x.shape().text());
  return record("t", transposed(x, 0, 1), {x}, [](const Tensor& g) -> Gradients { return {transposed(g, 0, 1)}; });
}

Tensor transpose_of(const Tensor& x, int64_t dim, int64_t other) {
  return ops::transpose(x, check::dimension("dim", x, dim), check::dimension("other", x, other));
}

/// Describes where the entries of a part of a tensor are stored: the part has the shape `shape`, the tensor has the
/// shape `of`.
Broadcast part(const Shape& shape, const Shape& of) {
  std::vector<int64_t> strides;
  for (int d = 0; d < shape.dims(); ++d) strides.push_back(of.stride(d));
  return strided(shape, strides);
}

Tensor narrow_of(const Tensor& x, int64_t dim, int64_t first, int64_t count) {
  const int d = check::dimension("dim", x, dim);
  if (first < 1 || count < 0 || first - 1 > x.size(d) || count > x.size(d) - (first - 1)) {
    throw ArgumentError("first", std::to_string(count) + " indices from " + std::to_string(first) +
                                     " exceed the dimension's size " + std::to_string(x.size(d)));
  }
  Shape shape = x.shape();
  shape.set(d, count);
  const int64_t shift = (first - 1) * x.shape().stride(d);
  const Tensor out = d == 0 ? x.slice(first - 1, count) : strided_copy(x, shape, part(shape, x.shape()), shift);
  return record("narrow", out, {x}, [was = x.shape(), shift](const Tensor& g) -> Gradients {
    Tensor gx = Tensor::zeros(was, g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<MoveKernels<Real>>(g.device())
          .strided_put(
              g.entries(),
              {.in = g.span<const Real>(), .out = gx.span<Real>(), .to = part(g.shape(), was), .shift = shift});
    });
    return {gx};
  });
}

Tensor at_of(const Tensor& x, int64_t i) {
  if (x.dims() == 0)
    throw ArgumentError("i", "cannot index a tensor without dimensions; read its number with x:item()");
  if (i < 1 || i > x.size(0))
    throw ArgumentError("i", "index " + std::to_string(i) + ", expected 1 to " + std::to_string(x.size(0)) +
                                 (i == x.size(0) + 1 ? "; a loop over a tensor x is: for i = 1, #x do" : ""));
  const Tensor row = narrow_of(x, 1, i, 1);
  const Shape shape = x.shape().without(0);
  return record("index", row.viewed(shape), {row},
                [was = row.shape()](const Tensor& g) -> Gradients { return {g.viewed(was)}; });
}

/// Returns the rows of x whose numbers, counted from 1, are in `index`, without recording a derivative.
Tensor gathered(const Tensor& x, const Tensor& index) {
  if (x.dims() == 0) throw ArgumentError("self", "a tensor without dimensions has no rows");
  if (index.dims() != 1)
    throw ArgumentError("index", "index has shape " + index.shape().text() + ", expected one dimension");
  if (index.device() != x.device())
    throw ArgumentError("index", "index is on another device than the tensor: move one with :to()");
  check::index("index", index, x.size(0));
  Shape shape = x.shape();
  shape.set(0, index.entries());
  const int64_t width = x.shape().stride(0);
  // Gathers on the host if the host has a copy of x and of the index, so that the host has a copy of the result, too.
  if (x.device() == Device::cuda && x.host_bytes() != nullptr && index.host_bytes() != nullptr)
    return gathered(x.data().to(Device::cpu), index.to(Device::cpu)).to(Device::cuda);
  Tensor out = Tensor::empty(shape, x.dtype(), x.device());
  with_any(x.dtype(), [&]<class T>() {
    kernels<MoveKernels<T>>(x.device())
        .gather_rows(out.entries(), {.in = x.span_of_rows<const T>(index),
                                     .index = {index.span<const int64_t>().data},
                                     .out = out.span<T>(),
                                     .width = width});
  });
  return out;
}

/// Returns a tensor of `n` rows in which row index[i] is row i of x. All other rows are zero. No row number is
/// repeated, and no derivative is recorded.
Tensor scattered(const Tensor& x, const Tensor& index, int64_t n) {
  Shape shape = x.shape();
  shape.set(0, n);
  Tensor out = Tensor::zeros(shape, x.dtype(), x.device());
  with_real(x.dtype(), [&]<class Real>() {
    kernels<MoveKernels<Real>>(x.device())
        .put_rows(x.entries(), {.in = x.span<const Real>(),
                                .index = {index.span<const int64_t>().data},
                                .out = out.span<Real>(),
                                .width = shape.stride(0)});
  });
  return out;
}

}  // namespace

Tensor rows_of(const Tensor& x, const Tensor& index) { return record("rows", gathered(x, index), {x}, RowsVjp{index}); }

namespace {

/// Returns the rows of x with the given numbers, of which none is repeated. Unlike the gradient of `rows_of`, the
/// gradient is dense, and no part of its computation runs on the host.
Tensor distinct_rows_of(const Tensor& x, const Tensor& index) {
  return record(
      "distinct_rows", gathered(x, index), {x},
      [index, n = x.dims() == 0 ? 0 : x.size(0)](const Tensor& g) -> Gradients { return {scattered(g, index, n)}; });
}

/// Returns a tensor of `n` rows in which row index[i] is row i of x, and all other rows are zero. It reverses
/// rows(index).
Tensor put_rows_of(const Tensor& x, const Tensor& index, int64_t n) {
  check::floating("x", x);
  if (n < 0) throw ArgumentError("n", std::to_string(n) + " rows, expected 0 or more");
  check::index("index", index, n);
  if (x.dims() == 0 || index.dims() != 1 || x.size(0) != index.entries()) {
    throw ArgumentError("index", "has shape " + index.shape().text() +
                                     ", expected one number per row of the tensor of shape " + x.shape().text());
  }
  if (index.device() != x.device())
    throw ArgumentError("index", "index is on another device than the tensor: move one with :to()");
  return record("put_rows", scattered(x, index, n), {x},
                [index](const Tensor& g) -> Gradients { return {gathered(g, index)}; });
}

/// Returns the inner product of row i of a and row i of b for each i: the scores of a factor model, without storing the
/// products.
Tensor row_dot_of(const Tensor& a, const Tensor& b) {
  check::floating("a", a);
  check::same_kind("b", b, "a", a);
  check::same_shape("b", b, "a", a);
  if (a.dims() != 2) throw ArgumentError("a", "a has shape " + a.shape().text() + ", expected two dimensions");
  Tensor out = Tensor::empty({a.size(0)}, a.dtype(), a.device());
  with_real(a.dtype(), [&]<class Real>() {
    kernels<ArithmeticKernels<Real>>(a.device())
        .row_dot(out.entries(),
                 {.a = a.span<const Real>(), .b = b.span<const Real>(), .out = out.span<Real>(), .width = a.size(1)});
  });
  return record_row_products("row_dot", out, a, b);
}

}  // namespace

Tensor ops::reshape(const Tensor& x, const Shape& shape) { return reshaped(x, shape); }
Tensor ops::narrow(const Tensor& x, int d, int64_t first, int64_t count) {
  return narrow_of(x, d + 1, first + 1, count);
}
Tensor ops::rows(const Tensor& x, const Tensor& index) { return rows_of(x, index); }
Tensor ops::transpose(const Tensor& x, int d, int e) {
  return record("transpose", transposed(x, d, e), {x},
                [d, e](const Tensor& g) -> Gradients { return {transposed(g, d, e)}; });
}

using lua::op;
extern const lua::OpTable shape_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {
        op<&t_of>("t", "self", "Transpose of a matrix."),
        op<&transpose_of>("transpose", "self, dim, other", "Swaps two dimensions."),
        op<&narrow_of>(
            "narrow", "self, dim, first, count",
            "`count` indices of a dimension from `first` on. Along the first dimension the result shares memory."),
        op<&rows_of>("rows", "self, index",
                     "The rows with these numbers (int64, counted from 1); its derivative is sparse."),
        op<&row_dot_of>("row_dot", "self, other", "Inner product of each row with the same row of other."),
    }};
extern const lua::OpTable shape_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&reshape_of>("reshape", "x, sizes", "The entries of x in another shape."),
        op<&put_rows_of>("put_rows", "x, index, n",
                         "A tensor of n rows that are 0 except for the rows of x, at the distinct positions in index."),
        op<&distinct_rows_of>("distinct_rows", "x, index",
                              "The rows with these distinct numbers (int64, counted from 1); its derivative is dense."),
    }};
extern const lua::OpTable shape_getters{lua::OpTable::getters,
                                        &lua::push_metatable<Tensor>,
                                        {op<&at_of>("[]", "self, i", "Index i of the first dimension.")}};

}  // namespace mr
