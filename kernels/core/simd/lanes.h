// Vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; for files that are compiled once per instruction set only.
// Everything is in an unnamed namespace and uses no library templates: the linker could otherwise pick this copy of
// shared code for processors that lack the instructions.
//
// Results are identical bits for every register size. A sum over entries runs in `Lanes::width` lanes, which fill one
// vector of 64 bytes or several smaller ones (`parts`), and lanes are added up in one fixed order (lane_sums.h). Fused
// operations are written out (multiply_add); the compiler fuses nothing.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace mr::cpu::MR_SIMD {
namespace {

constexpr int64_t smaller(int64_t a, int64_t b) { return a < b ? a : b; }

template <class T>
void fill(T* to, int64_t n, T value) {
  for (int64_t i = 0; i < n; ++i) to[i] = value;
}

template <class Real>
struct Lanes {
  typedef Real Vector __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
  static constexpr int64_t count = MR_VECTOR_BYTES / sizeof(Real);
  /// `width`: number of lanes in which a sum accumulates, on every processor. `parts`: number of SIMD vectors that
  /// hold these lanes.
  static constexpr int64_t width = 64 / sizeof(Real), parts = width / count;

  static Vector load(const Real* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(Real* to, Vector v) { std::memcpy(to, &v, sizeof v); }
  static Vector all(Real x) { return x - Vector{}; }
};

// Returns a b + c, with a single rounding on processors that have fused multiply-add.
#if defined(__AVX512F__)
inline Lanes<float>::Vector multiply_add(Lanes<float>::Vector a, Lanes<float>::Vector b, Lanes<float>::Vector c) {
  return reinterpret_cast<Lanes<float>::Vector>(_mm512_fmadd_ps(a, b, c));
}
inline Lanes<double>::Vector multiply_add(Lanes<double>::Vector a, Lanes<double>::Vector b, Lanes<double>::Vector c) {
  return reinterpret_cast<Lanes<double>::Vector>(_mm512_fmadd_pd(a, b, c));
}
#elif defined(__FMA__)
inline Lanes<float>::Vector multiply_add(Lanes<float>::Vector a, Lanes<float>::Vector b, Lanes<float>::Vector c) {
  return reinterpret_cast<Lanes<float>::Vector>(_mm256_fmadd_ps(a, b, c));
}
inline Lanes<double>::Vector multiply_add(Lanes<double>::Vector a, Lanes<double>::Vector b, Lanes<double>::Vector c) {
  return reinterpret_cast<Lanes<double>::Vector>(_mm256_fmadd_pd(a, b, c));
}
#elif defined(__aarch64__)
inline Lanes<float>::Vector multiply_add(Lanes<float>::Vector a, Lanes<float>::Vector b, Lanes<float>::Vector c) {
  return reinterpret_cast<Lanes<float>::Vector>(vfmaq_f32(c, a, b));
}
inline Lanes<double>::Vector multiply_add(Lanes<double>::Vector a, Lanes<double>::Vector b, Lanes<double>::Vector c) {
  return reinterpret_cast<Lanes<double>::Vector>(vfmaq_f64(c, a, b));
}
#else
template <class V>
V multiply_add(V a, V b, V c) {
  return a * b + c;
}
#endif

/// Returns the square roots of all lanes; vectors have no operator for them.
template <class Real>
typename Lanes<Real>::Vector root(typename Lanes<Real>::Vector v) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 4)
    return reinterpret_cast<typename Lanes<Real>::Vector>(_mm512_sqrt_ps(v));
  else
    return reinterpret_cast<typename Lanes<Real>::Vector>(_mm512_sqrt_pd(v));
#elif defined(__AVX2__)
  if constexpr (sizeof(Real) == 4)
    return reinterpret_cast<typename Lanes<Real>::Vector>(_mm256_sqrt_ps(v));
  else
    return reinterpret_cast<typename Lanes<Real>::Vector>(_mm256_sqrt_pd(v));
#elif defined(__aarch64__)
  if constexpr (sizeof(Real) == 4)
    return reinterpret_cast<typename Lanes<Real>::Vector>(vsqrtq_f32(v));
  else
    return reinterpret_cast<typename Lanes<Real>::Vector>(vsqrtq_f64(v));
#else
  for (int64_t i = 0; i < Lanes<Real>::count; ++i)
    v[i] = sizeof(Real) == 4 ? static_cast<Real>(__builtin_sqrtf(static_cast<float>(v[i])))
                             : static_cast<Real>(__builtin_sqrt(static_cast<double>(v[i])));
  return v;
#endif
}

/// Finds the least and the largest of n >= 1 entries without NaN.
template <class Real>
void range(const Real* scores, int64_t n, Real* low, Real* high) {
  using L = Lanes<Real>;
  auto least = L::all(scores[0]), largest = least;
  int64_t j = 0;
  for (; j + L::count <= n; j += L::count) {
    const auto s = L::load(scores + j);
    least = s < least ? s : least;
    largest = s > largest ? s : largest;
  }
  Real lows[L::count], highs[L::count];
  L::store(lows, least);
  L::store(highs, largest);
  for (int64_t half = L::count / 2; half > 0; half /= 2) {
    for (int64_t i = 0; i < half; ++i) {
      lows[i] = lows[i + half] < lows[i] ? lows[i + half] : lows[i];
      highs[i] = highs[i + half] > highs[i] ? highs[i + half] : highs[i];
    }
  }
  *low = lows[0];
  *high = highs[0];
  for (; j < n; ++j) {
    if (scores[j] < *low) *low = scores[j];
    if (scores[j] > *high) *high = scores[j];
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD
