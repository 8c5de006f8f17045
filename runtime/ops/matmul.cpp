// Matrix products, single or batched: on the CPU by kernels/tensor/matmul.h, on the GPU by cuBLAS.
#include "runtime/ops/matmul.h"

#include "kernels/device/gpu.h"
#include "kernels/tensor/matmul.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/functions.h"
#include "runtime/ops/geometry.h"

namespace mr {
namespace {

/// Computes op(a) op(b) of matrices with m x k and k x n entries, where op transposes if its flag is set.
template <class Real>
struct MatrixProduct {
  Device device;
  bool transpose_a, transpose_b;
  int64_t m, n, k;

  void operator()(const Real* a, const Real* b, Real* out) const {
    if (device == Device::cpu) {
      cpu::matmul(transpose_a, transpose_b, m, n, k, a, b, out);
    } else {
      cuda::gpu().matmul(cuda::Product<Real>{transpose_a, transpose_b, m, n, k, a, b, out});
    }
  }
};

Shape batch_of(const Shape& shape) {
  Shape batch;
  for (int d = 0; d + 2 < shape.dims(); ++d) batch.append(shape[d]);
  return batch;
}

/// Returns the number of columns: the size of the last dimension. `rows` returns the size of the dimension before it.
int64_t columns(const Tensor& x) { return x.size(x.dims() - 1); }
int64_t rows(const Tensor& x) { return x.size(x.dims() - 2); }

[[noreturn]] void do_not_fit(const Tensor& a, const Tensor& b) {
  throw ArgumentError("other", "shapes " + a.shape().text() + " and " + b.shape().text() +
                                   " cannot be multiplied. The columns of the first must be as many as the rows of the "
                                   "second, and dimensions before these must broadcast");
}

Shape common_batch(const Tensor& a, const Tensor& b) {
  try {
    return broadcast_shape(batch_of(a.shape()), batch_of(b.shape()));
  } catch (const ArgumentError&) {
    do_not_fit(a, b);
  }
}

/// Computes the products of the matrices in the last two dimensions. Dimensions before them are broadcast.
Tensor products(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b) {
  const Shape batch = common_batch(a, b);
  Shape shape = batch;
  shape.append(transpose_a ? columns(a) : rows(a));
  shape.append(transpose_b ? rows(b) : columns(b));
  const int64_t count = batch.entries(), of_a = rows(a) * columns(a), of_b = rows(b) * columns(b);
  const Broadcast from_a = broadcast_of(batch_of(a.shape()), batch), from_b = broadcast_of(batch_of(b.shape()), batch);
  Tensor out = Tensor::empty(shape, a.dtype(), a.device());
  const int64_t of_out = rows(out) * columns(out);
  with_real(a.dtype(), [&]<class Real>() {
    const MatrixProduct<Real> multiply{a.device(), transpose_a,  transpose_b,
                                       rows(out),  columns(out), transpose_a ? rows(a) : columns(a)};
    const auto x = a.span<const Real>(), y = b.span<const Real>();
    const auto z = out.span<Real>();
    for (int64_t i = 0; i < count; ++i)
      multiply(x.data + from_a(i) * of_a, y.data + from_b(i) * of_b, z.data + i * of_out);
  });
  return out;
}

Tensor multiplied(const Tensor& a, const Tensor& b) {
  const Tensor out = products(a, false, b, false);
  return record("matmul", out, {a, b},
                [a = a.data(), b = b.data(), need_a = a.node() != nullptr,
                 need_b = b.node() != nullptr](const Tensor& g) -> Gradients {
                  return {need_a ? Gradient(sum_to(products(g, false, b, true), a.shape())) : Gradient(),
                          need_b ? Gradient(sum_to(products(a, true, g, false), b.shape())) : Gradient()};
                });
}

/// Returns the matrix product of a and b. A vector counts as a row on the left and as a column on the right; the result
/// does not have the added dimension.
Tensor matmul_of(const Tensor& a, const Tensor& b) {
  check::floating("self", a);
  check::same_kind("other", b, "self", a);
  if (a.dims() == 0 || b.dims() == 0 || columns(a) != (b.dims() == 1 ? b.size(0) : rows(b))) do_not_fit(a, b);
  const Tensor x = a.dims() == 1 ? ops::reshape(a, {1, a.size(0)}) : a;
  const Tensor y = b.dims() == 1 ? ops::reshape(b, {b.size(0), 1}) : b;
  Shape shape = common_batch(x, y);
  if (a.dims() > 1) shape.append(rows(a));
  if (b.dims() > 1) shape.append(columns(b));
  // If all matrices on the left are multiplied by the same matrix, they are joined for one large product.
  const bool fold = x.dims() > 2 && y.dims() == 2;
  const Tensor left = fold ? ops::reshape(x, {x.shape().without(x.dims() - 1).entries(), columns(x)}) : x;
  const Tensor out = multiplied(left, y);
  return out.shape() == shape ? out : ops::reshape(out, shape);
}

}  // namespace

Tensor product(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b) {
  return products(a, transpose_a, b, transpose_b);
}

void product_into(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, const Tensor& out) {
  with_real(a.dtype(), [&]<class Real>() {
    const MatrixProduct<Real> multiply{a.device(), transpose_a,  transpose_b,
                                       rows(out),  columns(out), transpose_a ? rows(a) : columns(a)};
    multiply(a.span<const Real>().data, b.span<const Real>().data, out.span<Real>().data);
  });
}

extern const lua::OpTable matmul_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Tensor>,
    {lua::op<&matmul_of>("matmul", "self, other",
                         "Product of the matrices in the last two dimensions; dimensions before them are broadcast. A "
                         "vector counts as a row on the left and as a column on the right.")}};

}  // namespace mr
