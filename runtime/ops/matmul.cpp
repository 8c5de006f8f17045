// Product of two matrices: Eigen on the CPU, cuBLAS on the GPU.
#include <Eigen/Core>

#include "kernels/cuda/device.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/check.h"

namespace mr {
namespace {

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using ConstMap = Eigen::Map<const Matrix<Real>>;

/// op(a) op(b), where op transposes if told to.
Tensor product(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b) {
  const int64_t m = a.size(transpose_a ? 1 : 0), k = a.size(transpose_a ? 0 : 1), n = b.size(transpose_b ? 0 : 1);
  Tensor out = Tensor::empty({m, n}, a.dtype(), a.device());
  with_real(a.dtype(), [&]<class Real>() {
    const auto* const x = a.span<const Real>().data;
    const auto* const y = b.span<const Real>().data;
    if (a.device() == Device::cuda) {
      cuda::matmul(transpose_a, transpose_b, m, n, k, x, y, out.span<Real>().data);
      return;
    }
    const ConstMap<Real> left(x, a.size(0), a.size(1)), right(y, b.size(0), b.size(1));
    Eigen::Map<Matrix<Real>> result(out.span<Real>().data, m, n);
    if (transpose_a) {
      result.noalias() = left.transpose() * right;
    } else if (transpose_b) {
      result.noalias() = left * right.transpose();
    } else {
      result.noalias() = left * right;
    }
  });
  return out;
}

Tensor matmul_of(const Tensor& a, const Tensor& b) {
  check::floating("self", a);
  check::same_kind("other", b, "self", a);
  if (a.dims() != 2 || b.dims() != 2 || a.size(1) != b.size(0)) {
    throw ArgumentError("other", "shapes " + a.shape().text() + " and " + b.shape().text() + " cannot be multiplied");
  }
  return record("matmul", product(a, false, b, false), {a, b},
                [a = a.data(), b = b.data(), need_a = a.node() != nullptr,
                 need_b = b.node() != nullptr](const Tensor& g) -> Gradients {
                  return {need_a ? Gradient(product(g, false, b, true)) : Gradient(),
                          need_b ? Gradient(product(a, true, g, false)) : Gradient()};
                });
}

}  // namespace

extern const lua::OpTable matmul_methods{lua::OpTable::methods,
                                         &lua::push_metatable<Tensor>,
                                         {lua::op<&matmul_of>("matmul", "self, other", "Product of two matrices.")}};

}  // namespace mr
