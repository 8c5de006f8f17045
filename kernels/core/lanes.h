// Vectors of MR_VECTOR_BYTES, their square roots and exponential function, inside namespace MR_SIMD; for files that are
// compiled once per instruction set only. All of it is in an unnamed namespace and uses no template of the library: of
// code shared with other files the linker could take this copy, for processors that lack the instructions.
#pragma once

#include <cstdint>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
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

  static Vector load(const Real* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(Real* to, Vector v) { std::memcpy(to, &v, sizeof v); }
  static Vector all(Real x) { return x - Vector{}; }
  static double sum(Vector v) {
    double total = 0;
    for (int64_t i = 0; i < count; ++i) total += v[i];
    return total;
  }
  static double product(Vector v) {
    double total = 1;
    for (int64_t i = 0; i < count; ++i) total *= v[i];
    return total;
  }
};

/// Square roots of all lanes: there is no operator for them.
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
#else
  for (int64_t i = 0; i < Lanes<Real>::count; ++i)
    v[i] = sizeof(Real) == 4 ? static_cast<Real>(__builtin_sqrtf(static_cast<float>(v[i])))
                             : static_cast<Real>(__builtin_sqrt(static_cast<double>(v[i])));
  return v;
#endif
}

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
  *low = *high = scores[0];
  for (int64_t i = 0; i < L::count; ++i) {
    if (least[i] < *low) *low = least[i];
    if (largest[i] > *high) *high = largest[i];
  }
  for (; j < n; ++j) {
    if (scores[j] < *low) *low = scores[j];
    if (scores[j] > *high) *high = scores[j];
  }
}

/// sum over k < 16 of c[k] x^k, in pairs, pairs of pairs and so on: a chain of 4 steps where Horner's has 15.
inline Lanes<double>::Vector polynomial(const double (&c)[16], Lanes<double>::Vector x) {
  Lanes<double>::Vector part[8];
  for (int k = 0; k < 8; ++k) part[k] = c[2 * k] + c[2 * k + 1] * x;
  for (int left = 4; left > 0; left /= 2) {
    x *= x;
    for (int k = 0; k < left; ++k) part[k] = part[2 * k] + part[2 * k + 1] * x;
  }
  return part[0];
}

/// exp(x) for |x| <= 350 to 1e-15: 2^k times the Taylor polynomial of degree 13 of the rest, which is at most ln(2)/2.
inline Lanes<double>::Vector exponential(Lanes<double>::Vector x) {
  typedef uint64_t Bits __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
  constexpr double round = 0x1.8p52;                                    // adding it leaves k in the lowest bits
  // ln 2 in two parts, the first short enough that k times it is exact
  constexpr double
      ln2_high = 0x1.62e42feep-1,
      ln2_low = 0x1.a39ef35793c76p-33,
      inverse_factorial[16] = {
          1.,        1.,         1. / 2,      1. / 6,       1. / 24,       1. / 120,       1. / 720,
          1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};
  const auto shifted = x * 1.44269504088896340736 + round, k = shifted - round, rest = (x - k * ln2_high) - k * ln2_low;
  auto p = polynomial(inverse_factorial, rest);
  Bits bits, result;
  std::memcpy(&bits, &shifted, sizeof bits);
  std::memcpy(&result, &p, sizeof result);
  result += bits << 52;
  std::memcpy(&p, &result, sizeof p);
  return p;
}

template <class Real>
void exponentials(Real* x, int64_t n, double gain, double centre) {
  constexpr int64_t count = Lanes<double>::count;
  typedef Real Part __attribute__((vector_size(count * sizeof(Real))));  // NOLINT: the attribute needs typedef
  for (int64_t j = 0; j < n; j += count) {
    Part part;
    std::memcpy(&part, x + j, sizeof part);
    const auto wide = __builtin_convertvector(part, Lanes<double>::Vector);
    part = __builtin_convertvector(exponential((wide - centre) * gain), Part);
    std::memcpy(x + j, &part, sizeof part);
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD
