// The exponential function for SIMD vectors, in namespace MR_SIMD. Only files that are compiled once per instruction
// set include it.
#pragma once

#include "kernels/core/simd/lanes.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// Evaluates sum over k < 16 of c[k] x^k by Estrin's scheme: 4 dependent steps instead of the 15 of Horner's rule.
inline Lanes<double>::Vector polynomial(const double (&c)[16], Lanes<double>::Vector x) {
  Lanes<double>::Vector part[8];
  const auto all = &Lanes<double>::all;
  for (int k = 0; k < 8; ++k) part[k] = multiply_add(all(c[2 * k + 1]), x, all(c[2 * k]));
  for (int left = 4; left > 0; left /= 2) {
    x *= x;
    for (int k = 0; k < left; ++k) part[k] = multiply_add(part[2 * k + 1], x, part[2 * k]);
  }
  return part[0];
}

/// Returns exp(x) for |x| <= 350 with a relative error of 1e-15. With k = x / ln(2), rounded to an integer, it is 2^k
/// times the Taylor polynomial of degree 13 at x - k ln(2), which is at most ln(2)/2 in magnitude.
inline Lanes<double>::Vector exponential(Lanes<double>::Vector x) {
  typedef uint64_t Bits __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
  // 1.5 * 2^52: adding it rounds to an integer k and leaves k in the lowest bits
  constexpr double round = 0x1.8p52;
  // ln 2 as ln2_high + ln2_low. ln2_high has so few bits that k * ln2_high is exact.
  constexpr double
      ln2_high = 0x1.62e42feep-1,
      ln2_low = 0x1.a39ef35793c76p-33,
      inverse_factorial[16] = {
          1.,        1.,         1. / 2,      1. / 6,       1. / 24,       1. / 120,       1. / 720,
          1. / 5040, 1. / 40320, 1. / 362880, 1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800};
  const auto all = &Lanes<double>::all;
  const auto shifted = multiply_add(x, all(1.44269504088896340736), all(round)), k = shifted - round,
             rest = multiply_add(k, all(-ln2_low), multiply_add(k, all(-ln2_high), x));
  auto p = polynomial(inverse_factorial, rest);
  Bits bits, result;
  std::memcpy(&bits, &shifted, sizeof bits);
  std::memcpy(&result, &p, sizeof result);
  result += bits << 52;
  std::memcpy(&p, &result, sizeof p);
  return p;
}

template <class Real>
void exponentials(Real* x, int64_t n, double steepness, double centre) {
  constexpr int64_t count = Lanes<double>::count;
  typedef Real Part __attribute__((vector_size(count * sizeof(Real))));  // NOLINT: the attribute needs typedef
  for (int64_t j = 0; j < n; j += count) {
    Part part;
    std::memcpy(&part, x + j, sizeof part);
    const auto wide = __builtin_convertvector(part, Lanes<double>::Vector);
    part = __builtin_convertvector(exponential((wide - centre) * steepness), Part);
    std::memcpy(x + j, &part, sizeof part);
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD
