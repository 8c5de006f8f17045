// Product of two matrices: on the CPU by kernels/tensor/matmul.h, on the GPU by cuBLAS.
#include "runtime/ops/matmul.h"

#include "kernels/device/gpu.h"
#include "kernels/tensor/matmul.h"
#include "runtime/autograd/node.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/check.h"

namespace mr {
Tensor product(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b) {
  const int64_t m = a.size(transpose_a ? 1 : 0), k = a.size(transpose_a ? 0 : 1), n = b.size(transpose_b ? 0 : 1);
  Tensor out = Tensor::empty({m, n}, a.dtype(), a.device());
  with_real(a.dtype(), [&]<class Real>() {
    const auto* const x = a.span<const Real>().data;
    const auto* const y = b.span<const Real>().data;
    auto* const z = out.span<Real>().data;
    if (a.device() == Device::cpu) {
      cpu::matmul(transpose_a, transpose_b, m, n, k, x, y, z);
    } else {
      cuda::gpu().matmul(cuda::Product<Real>{transpose_a, transpose_b, m, n, k, x, y, z});
    }
  });
  return out;
}

namespace {

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
