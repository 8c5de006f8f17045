// Sums of the lanes of SIMD vectors, and inner products, in namespace MR_SIMD. Only files that are compiled once per
// instruction set include it. A sum first adds lanes i and i + width / 2 and then halves the remaining lanes again, so
// the order does not depend on the vector size.
#pragma once

#include "kernels/core/simd/lanes.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// The SIMD vectors that hold the partial sums of a sum over entries. They have `Lanes<Real>::width` lanes together.
template <class Real>
using Parts = typename Lanes<Real>::Vector[Lanes<Real>::parts];

/// Combines all lanes to one number of type Wide by repeated halving: lane i becomes of_two(lane i, lane i + half),
/// until one lane is left.
template <class Wide, class Real, class F>
Wide over_halves(const Parts<Real>& v, F of_two) {
  constexpr int64_t half = Lanes<Real>::width / 2;
  Real lanes[2 * half];
  std::memcpy(lanes, v, sizeof lanes);
  Wide left[half];
  for (int64_t i = 0; i < half; ++i) left[i] = of_two(static_cast<Wide>(lanes[i]), static_cast<Wide>(lanes[i + half]));
  for (int64_t n = half / 2; n > 0; n /= 2) {
    for (int64_t i = 0; i < n; ++i) left[i] = of_two(left[i], left[i + n]);
  }
  return left[0];
}

template <class Real>
double product_of(const Parts<Real>& v) {
  return over_halves<double, Real>(v, [](double a, double b) { return a * b; });
}

#if defined(__AVX__)
inline double sum_of_four(__m256d v) {
  const __m128d two = _mm_add_pd(_mm256_castpd256_pd128(v), _mm256_extractf128_pd(v, 1));
  return _mm_cvtsd_f64(_mm_add_sd(two, _mm_unpackhi_pd(two, two)));
}
inline float sum_of_eight(__m256 v) {
  const __m128 four = _mm_add_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps(v, 1)),
               two = _mm_add_ps(four, _mm_movehl_ps(four, four));
  return _mm_cvtss_f32(_mm_add_ss(two, _mm_shuffle_ps(two, two, 1)));
}
#endif

/// Return the sum of all lanes, as a double or as a Real.
#if defined(__AVX512F__)
inline double sum_of(const Parts<double>& v) {
  return sum_of_four(_mm256_add_pd(_mm512_castpd512_pd256(v[0]), _mm512_extractf64x4_pd(v[0], 1)));
}
inline double sum_of(const Parts<float>& v) {
  const __m512d eight[1] = {
      _mm512_add_pd(_mm512_cvtps_pd(_mm512_castps512_ps256(v[0])), _mm512_cvtps_pd(_mm512_extractf32x8_ps(v[0], 1)))};
  return sum_of(eight);
}
inline float total_of(const Parts<float>& v) {
  return sum_of_eight(_mm256_add_ps(_mm512_castps512_ps256(v[0]), _mm512_extractf32x8_ps(v[0], 1)));
}
#elif defined(__AVX__)
inline double sum_of(const Parts<double>& v) { return sum_of_four(_mm256_add_pd(v[0], v[1])); }
inline double sum_of(const Parts<float>& v) {
  const auto low = [](__m256 x) { return _mm256_cvtps_pd(_mm256_castps256_ps128(x)); };
  const auto high = [](__m256 x) { return _mm256_cvtps_pd(_mm256_extractf128_ps(x, 1)); };
  return sum_of_four(_mm256_add_pd(_mm256_add_pd(low(v[0]), low(v[1])), _mm256_add_pd(high(v[0]), high(v[1]))));
}
inline float total_of(const Parts<float>& v) { return sum_of_eight(_mm256_add_ps(v[0], v[1])); }
#else
template <class Wide, class Real>
Wide lanes_added(const Parts<Real>& v) {
  return over_halves<Wide, Real>(v, [](Wide a, Wide b) { return a + b; });
}
inline double sum_of(const Parts<double>& v) { return lanes_added<double, double>(v); }
inline double sum_of(const Parts<float>& v) { return lanes_added<double, float>(v); }
inline float total_of(const Parts<float>& v) { return lanes_added<float, float>(v); }
#endif
inline double total_of(const Parts<double>& v) { return sum_of(v); }

/// Returns the inner product of `n` entries with two interleaved accumulators. Each one takes every other 64 bytes.
template <class Real>
Real inner_product(const Real* x, const Real* y, int64_t n) {
  using L = Lanes<Real>;
  const int64_t whole = n / L::width * L::width;
  Parts<Real> total;
  for (int64_t p = 0; p < L::parts; ++p) {
    typename L::Vector a{}, b{};
    int64_t c = p * L::count;
    for (; c + L::width < whole; c += 2 * L::width) {
      a = multiply_add(L::load(x + c), L::load(y + c), a);
      b = multiply_add(L::load(x + c + L::width), L::load(y + c + L::width), b);
    }
    if (c < whole) a = multiply_add(L::load(x + c), L::load(y + c), a);
    total[p] = a + b;
  }
  if (whole < n) {
    Real x_rest[L::width] = {}, y_rest[L::width] = {};
    std::memcpy(x_rest, x + whole, (n - whole) * sizeof(Real));
    std::memcpy(y_rest, y + whole, (n - whole) * sizeof(Real));
    for (int64_t p = 0; p < L::parts; ++p)
      total[p] = multiply_add(L::load(x_rest + p * L::count), L::load(y_rest + p * L::count), total[p]);
  }
  return total_of(total);
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD
