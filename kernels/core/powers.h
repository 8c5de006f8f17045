// Portable powers, whose results do not depend on the C library (functions.h gives the reason). The logarithm of the
// base is a sum of two doubles, because the exponent multiplies the logarithm's relative error.
#pragma once

#include "kernels/core/logarithms.h"

namespace mr::portable {
namespace plain {

/// Returns x with its leading 26 bits only: products of two such numbers are exact.
static inline MR_HD double leading(double x) { return from_bits(bits_of(x) & 0xFFFFFFFFF8000000); }

/// A number as a sum high + low, where high has 26 significant bits.
struct Two {
  double high, low;
};

/// Returns log2 x = k + log2 m for finite x > 0, with a relative error of 2^-66: log m = 2/3 s (3 + s^2 + 3/5 s^4 +
/// ...), s = (m - 1) / (m + 1). The large terms are kept in two parts.
static inline MR_HD Two log2_in_two(double x) {
  constexpr double factor = 0x1.ec709dc3a03fdp-1, factor_high = 0x1.ec709d8p-1, factor_low = 0x1.0e80ff5d27f05p-27;
  const bool subnormal = x < 0x1p-1022;
  auto [k, m] = parts_of(subnormal ? x * 0x1p54 : x);
  if (subnormal) k -= 54;
  const double f = m - 1, d = m + 1, s = f / d;
  const double s_high = leading(s), d_high = leading(d), d_low = m - (d_high - 1);
  const double s_low = ((f - s_high * d_high) - s_high * d_low) / d;
  const double z = s * s, z2 = z * z, z_high = s_high * s_high, z_low = s_low * (s_high + s);
  const double z4 = z2 * z2;
  const double small = z2 * (cubic(3. / 5, 3. / 7, 3. / 9, 3. / 11, z, z2) +
                             z4 * (cubic(3. / 13, 3. / 15, 3. / 17, 3. / 19, z, z2) +
                                   z4 * cubic(3. / 21, 3. / 23, 3. / 25, 3. / 27, z, z2))) +
                       z_low;
  const double u_high = leading(3 + z_high + small), u_low = small - ((u_high - 3) - z_high);
  const double product = s_high * u_high, rest = s_low * u_high + u_low * s;
  const double p_high = leading(product + rest), p_low = rest - (p_high - product);
  const double high = factor_high * p_high, low = factor_low * p_high + p_low * factor, all = leading(k + (high + low));
  return {all, low - ((all - k) - high)};
}

/// Returns x^y for finite x > 0 and finite y, where `log` is log2_in_two(x).
static inline MR_HD double positive_power(double x, Two log, double y) {
  constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2_high = 0x1.62e42f8p-1, ln2_low = 0x1.be8e7bcd5e4f2p-27;
  if (y == 2) return x * x;
  const double y_high = leading(y), high = y_high * log.high, low = (y - y_high) * log.high + y * log.low;
  if (!(high + low < 1100)) return HUGE_VAL;
  if (!(high + low > -1100)) return 0;
  const double k = nearest(high + low), t = high - k, part = leading(t + low), part_low = low - (part - t);
  const double product = part * ln2_high, rest = part * ln2_low + part_low * ln2, r = product + rest;
  return scaled(1 + (r + exp_beyond(r, rest - (r - product))), k);
}

/// True if |y|, an integer, is odd.
static inline MR_HD bool is_odd(double y) {
  const double half = (y < 0 ? -y : y) / 2;
  return half < 0x1p52 && half != static_cast<double>(static_cast<int64_t>(half));
}

static inline MR_HD bool is_integer(double y) {
  const double size = y < 0 ? -y : y;
  return !(size < 0x1p53) || size == static_cast<double>(static_cast<int64_t>(size));
}

/// Returns x^y, with the C library's values at 0, at infinities and for negative x.
static inline MR_HD double pow(double x, double y) {
  if (y == 0 || x == 1) return 1;
  if (x != x || y != y) return x + y;
  const double size = x < 0 ? -x : x;
  const bool negative = std::signbit(x) && is_integer(y) && is_odd(y);
  double value;
  if (size == 0 || size == HUGE_VAL) {
    value = (size == 0) == (y < 0) ? HUGE_VAL : 0;
  } else if (y == HUGE_VAL || y == -HUGE_VAL) {
    value = size == 1 ? 1 : (size > 1) == (y > 0) ? HUGE_VAL : 0;
  } else if (x < 0 && !is_integer(y)) {
    return NAN;
  } else {
    value = positive_power(size, log2_in_two(size), y);
  }
  return negative ? -value : value;
}

}  // namespace plain

static inline MR_HD double pow(double x, double y) {
#ifdef __CUDA_ARCH__
  return std::pow(x, y);
#else
  return plain::pow(x, y);
#endif
}

static inline MR_HD float pow(float x, float y) {
#ifdef __CUDA_ARCH__
  return std::pow(x, y);
#else
  return static_cast<float>(plain::pow(static_cast<double>(x), static_cast<double>(y)));
#endif
}

/// Holds a finite x > 0 and its logarithm, for computing many powers of x.
struct Base {
  double x;
  plain::Two log;
};
static inline MR_HD Base base_of(double x) {
#ifdef __CUDA_ARCH__
  return {x, {}};
#else
  return {x, plain::log2_in_two(x)};
#endif
}

/// Returns the power base^y of a finite base above 0.
static inline MR_HD double power(const Base& base, double y) {
#ifdef __CUDA_ARCH__
  return std::pow(base.x, y);
#else
  return plain::positive_power(base.x, base.log, y);
#endif
}

}  // namespace mr::portable
