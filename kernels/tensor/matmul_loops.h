// Eigen's products for one instruction set, inside namespace MR_SIMD; included by matmul_*.cpp only. Eigen itself gets
// a namespace of that set: else the linker would keep one copy of its templates for all processors.
#define MR_JOIN_NAMES(a, b) a##b
#define MR_JOIN(a, b) MR_JOIN_NAMES(a, b)
#define Eigen MR_JOIN(Eigen_, MR_SIMD)
#include <Eigen/Core>

#include "kernels/tensor/matmul.h"

namespace mr::cpu::MR_SIMD {
namespace {

template <class Real>
using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
template <class Real>
using ConstMap = Eigen::Map<const Matrix<Real>, 0, Eigen::OuterStride<>>;
template <class Real>
using Map = Eigen::Map<Matrix<Real>, 0, Eigen::OuterStride<>>;

template <class Real>
ConstMap<Real> map_of(const Factor<Real>& x, int64_t rows, int64_t columns) {
  return {x.data, x.transposed ? columns : rows, x.transposed ? rows : columns, Eigen::OuterStride<>(x.stride)};
}

template <class Real>
void put(const Product<Real>& p, const auto& a, const auto& b) {
  Map<Real> c(p.c, p.m, p.n, Eigen::OuterStride<>(p.stride));
  if (p.add) {
    c.noalias() += p.scale * a * b;
  } else {
    c.noalias() = p.scale * a * b;
  }
}

template <class Real>
void multiply(const Product<Real>& p) {
  const auto a = map_of(p.a, p.m, p.k), b = map_of(p.b, p.k, p.n);
  if (p.a.transposed && p.b.transposed) return put(p, a.transpose(), b.transpose());
  if (p.a.transposed) return put(p, a.transpose(), b);
  if (p.b.transposed) return put(p, a, b.transpose());
  put(p, a, b);
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
ProductLoops<float> loops_of<ProductLoops<float>, Simd::MR_SIMD>() {
  return {&MR_SIMD::multiply<float>};
}
template <>
ProductLoops<double> loops_of<ProductLoops<double>, Simd::MR_SIMD>() {
  return {&MR_SIMD::multiply<double>};
}

}  // namespace mr::cpu
