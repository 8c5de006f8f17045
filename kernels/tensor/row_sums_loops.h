// The loop that sums chosen rows of a matrix (row_sums_cpu.h), inside namespace MR_SIMD. Every column adds its terms in
// order in double precision, so every instruction set gives the same bits.
#include <cstring>

#include "kernels/tensor/row_sums_cpu.h"

namespace mr::cpu::MR_SIMD {
namespace {

template <class Real>
struct Eight {
  static constexpr int64_t count = 8;
  typedef Real Vector __attribute__((vector_size(count * sizeof(Real))));     // NOLINT: the attribute needs typedef
  typedef double Total __attribute__((vector_size(count * sizeof(double))));  // NOLINT
};

/// Sums 8 * `parts` adjacent columns over the n rows in `order`; the sums stay in registers. If `scaled`, row i is
/// multiplied by scale[i] first.
template <int parts, bool scaled, class Real>
void sum_columns(const Real* in, const Real* scale, const int64_t* order, int64_t n, int64_t width, Real* out) {
  using E = Eight<Real>;
  typename E::Total totals[parts] = {};
  for (int64_t k = 0; k < n; ++k) {
    for (int p = 0; p < parts; ++p) {
      typename E::Vector v;
      std::memcpy(&v, in + order[k] * width + p * E::count, sizeof v);
      if constexpr (scaled) v = scale[order[k]] * v;
      totals[p] += __builtin_convertvector(v, typename E::Total);
    }
  }
  for (int p = 0; p < parts; ++p) {
    const auto v = __builtin_convertvector(totals[p], typename E::Vector);
    std::memcpy(out + p * E::count, &v, sizeof v);
  }
}

template <bool scaled, class Real>
void sum_rows(const Real* in, const Real* scale, const int64_t* order, int64_t n, int64_t width, Real* out) {
  constexpr int64_t count = Eight<Real>::count;
  int64_t c = 0;
  for (; c + 4 * count <= width; c += 4 * count) sum_columns<4, scaled>(in + c, scale, order, n, width, out + c);
  for (; c + count <= width; c += count) sum_columns<1, scaled>(in + c, scale, order, n, width, out + c);
  for (; c < width; ++c) {
    double total = 0;
    for (int64_t k = 0; k < n; ++k) {
      const Real x = in[order[k] * width + c];
      total += static_cast<double>(scaled ? scale[order[k]] * x : x);
    }
    out[c] = static_cast<Real>(total);
  }
}

template <class Real>
void sum(const Real* in, const Real* scale, const int64_t* order, int64_t n, int64_t width, Real* out) {
  (scale != nullptr ? sum_rows<true, Real> : sum_rows<false, Real>)(in, scale, order, n, width, out);
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
RowSumLoops<float> loops_of<RowSumLoops<float>, Simd::MR_SIMD>() {
  return {&MR_SIMD::sum<float>};
}
template <>
RowSumLoops<double> loops_of<RowSumLoops<double>, Simd::MR_SIMD>() {
  return {&MR_SIMD::sum<double>};
}

}  // namespace mr::cpu
