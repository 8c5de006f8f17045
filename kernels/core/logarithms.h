// Portable logarithms, whose results do not depend on the C library (functions.h gives the reason).
#pragma once

#include "kernels/core/functions.h"

namespace mr::portable {
namespace plain {

/// Returns k ln 2 + log(1 + f) + low for 1 + f in [sqrt(1/2), sqrt(2)], by the series of the inverse hyperbolic
/// tangent: log(1 + f) = 2 (s + s^3 / 3 + s^5 / 5 + ...) = f - f^2 / 2 + s (f^2 / 2 + ...) with s = f / (2 + f).
static inline MR_HD double log_of(double k, double f, double low) {
  const TimesLn2 whole = times_ln2(k);
  const double s = f / (2 + f), half = 0.5 * f * f, z = s * s, z2 = z * z, z4 = z2 * z2;
  const double series = z * (cubic(2. / 3, 2. / 5, 2. / 7, 2. / 9, z, z2) +
                             z4 * (cubic(2. / 11, 2. / 13, 2. / 15, 2. / 17, z, z2) + z4 * (2. / 19 + 2. / 21 * z)));
  return whole.high - ((half - (s * (half + series) + (whole.low + low))) - f);
}

/// Splits a normal x > 0 into its binary exponent k and mantissa m: x = 2^k m, m in [sqrt(1/2), sqrt(2)].
struct Parts {
  double k, m;
};
static inline MR_HD Parts parts_of(double x) {
  constexpr uint64_t one = 0x3FF0000000000000, root = 0x3FE6A09E667F3BCD, mantissa = 0x000FFFFFFFFFFFFF;
  const uint64_t shifted = bits_of(x) + (one - root);
  return {from_bits((shifted >> 52) | 0x4330000000000000) - (0x1p52 + 1023), from_bits((shifted & mantissa) + root)};
}

/// Returns the logarithm of x: the special values at 0, infinity, NaN and negative x, `inside` for all other x.
static inline MR_HD double log_or_end(double x, double inside) {
  inside = x < HUGE_VAL ? inside : x;  // NaN stays NaN
  inside = x == 0 ? -HUGE_VAL : inside;
  return x < 0 ? static_cast<double>(NAN) : inside;
}

static inline MR_HD double log(double x) {
  const bool subnormal = x < 0x1p-1022;
  const auto [k, m] = parts_of(subnormal ? x * 0x1p54 : x);
  return log_or_end(x, log_of(subnormal ? k - 54 : k, m - 1, 0));
}

/// Returns log(1 + x), accurate for small x: the rounding error of 1 + x is corrected by a first-order term.
static inline MR_HD double log1p(double x) {
  const double u = 1 + x, lost = x < 1 ? x - (u - 1) : 1 - (u - x);
  const auto [k, m] = parts_of(u);
  const double inside = log_of(k, k == 0 ? x : m - 1, k == 0 ? 0 : lost / u);
  return log_or_end(u, x == 0 ? x : inside);
}

/// Returns log(n!) to a relative error of 1e-15: the product itself where it is exact, else Stirling's series.
static inline double log_factorial(int64_t n) {
  constexpr double half_log_two_pi = 0.91893853320467274178;
  if (n < 19) {
    double product = 1;
    for (int64_t k = 2; k <= n; ++k) product *= static_cast<double>(k);
    return log(product);
  }
  const auto x = static_cast<double>(n);
  const double y = 1 / x, y2 = y * y;
  const double rest = y * (1. / 12 - y2 * (1. / 360 - y2 * (1. / 1260 - y2 * (1. / 1680 - y2 * (1. / 1188)))));
  return (x + 0.5) * log(x) - x + half_log_two_pi + rest;
}

}  // namespace plain

MR_PORTABLE(log)
MR_PORTABLE(log1p)
using plain::log_factorial;

}  // namespace mr::portable
