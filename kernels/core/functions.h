// Portable elementary functions: results do not depend on the C library, its version, or the variant that it selects
// for a processor. This file has exponentials and tanh; other functions are in logarithms.h, powers.h and angles.h. The
// functions use additions, multiplications, divisions and bit operations on doubles, without fused multiply-add, which
// not every processor has. They have few branches, so that compilers can vectorize loops over them. Doubles are
// accurate to about one unit in the last place, floats to half a unit; the tests measure this accuracy. The GPU has its
// own versions. All functions are static, because the linker could otherwise pick a copy that was compiled for wider
// vectors.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/core/hd.h"

// MR_PORTABLE(name) declares a function of one argument for float and double, on CPU and GPU.
#ifdef __CUDA_ARCH__
#define MR_PORTABLE(name)                                            \
  static inline MR_HD double name(double x) { return std::name(x); } \
  static inline MR_HD float name(float x) { return std::name(x); }
#else
#define MR_PORTABLE(name)                                              \
  static inline MR_HD double name(double x) { return plain::name(x); } \
  static inline MR_HD float name(float x) { return static_cast<float>(plain::name(static_cast<double>(x))); }
#endif

namespace mr::portable {
namespace plain {

static inline MR_HD uint64_t bits_of(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline MR_HD double from_bits(uint64_t bits) {
  double x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// Returns the cubic polynomial a + b x + c x^2 + d x^3, where x2 is x^2.
static inline MR_HD double cubic(double a, double b, double c, double d, double x, double x2) {
  return (a + b * x) + (c + d * x) * x2;
}

/// Rounds to the nearest integer, for |x| < 2^51.
static inline MR_HD double nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/// Returns x 2^k for integers |k| < 2046, in two steps, because 2^k itself may be subnormal or infinite.
static inline MR_HD double scaled(double x, double k) {
  const double half = nearest(0.5 * k), bias = 0x1.8p52 + 1023;
  return x * from_bits(bits_of(half + bias) << 52) * from_bits(bits_of(k - half + bias) << 52);
}

/// Returns exp(r + low) - 1 - r for |r| < 0.35 and a rounding error `low` of r: Taylor's polynomial of degree 13.
static inline MR_HD double exp_beyond(double r, double low) {
  const double r2 = r * r, r4 = r2 * r2;
  const double p = cubic(1. / 2, 1. / 6, 1. / 24, 1. / 120, r, r2) +
                   r4 * (cubic(1. / 720, 1. / 5040, 1. / 40320, 1. / 362880, r, r2) +
                         r4 * cubic(1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800, r, r2));
  return r2 * p + (low + low * r);
}

/// Holds k ln 2 for integers |k| < 2^20 as a sum of two parts. The first is exact, because ln 2 is split.
struct TimesLn2 {
  double high, low;
};
static inline MR_HD TimesLn2 times_ln2(double k) { return {k * 0x1.62e42fefp-1, k * 0x1.473de6af278edp-34}; }

/// Splits x into k ln 2 + r + low with |r| <= ln(2) / 2. First x is clamped to [-1100, 1100].
struct Remainder {
  double k, r, low;
};
static inline MR_HD Remainder remainder_of_ln2(double x) {
  x = x > 1100 ? 1100 : x;
  x = x < -1100 ? -1100 : x;
  const double k = nearest(x * 1.44269504088896340736);
  const auto [whole, low] = times_ln2(k);
  const double high = x - whole, r = high - low;
  return {k, r, (high - r) - low};
}

static inline MR_HD double exp(double x) {
  const auto [k, r, low] = remainder_of_ln2(x);
  return scaled(1 + (r + exp_beyond(r, low)), k);
}

/// Returns 2^x. Integers, which most grades are, give exact powers of two without the series.
static inline MR_HD double exp2(double x) {
  x = x > 1500 ? 1500 : x;
  x = x < -1500 ? -1500 : x;
  const double k = nearest(x), r = (x - k) * 0.69314718055994530942;
  if (r == 0) return scaled(1, k);
  return scaled(1 + (r + exp_beyond(r, 0)), k);
}

/// Returns exp(x) - 1, accurate for small x: 2^k (exp(r) - 1 + 1 - 2^-k), which adds 1 - 2^-k before small terms.
static inline MR_HD double expm1(double x) {
  if (x > 709) return exp(x);
  if (x < -40) return -1;
  const auto [k, r, low] = remainder_of_ln2(x);
  const double beyond = exp_beyond(r, low);
  if (k == 0) return x == 0 ? x : r + beyond;
  return scaled(((1 - scaled(1, -k)) + r) + beyond, k);
}

/// Returns tanh(x): by a Pade approximant near 0, where it loses no digits, and by the exponential elsewhere.
static inline MR_HD double tanh(double x) {
  constexpr uint64_t sign = uint64_t{1} << 63;
  const double size = from_bits(bits_of(x) & ~sign), z = size * size;
  const double near = size - size * (z * (((z + 594) * z + 45045) * z + 675675) /
                                     ((((z + 630) * z + 51975) * z + 945945) * z + 2027025));
  const double far = 1 - 2 / (exp(2 * size) + 1), value = size < 0.625 ? near : far;
  return from_bits(bits_of(value) | (bits_of(x) & sign));
}

}  // namespace plain

MR_PORTABLE(exp)
MR_PORTABLE(exp2)
MR_PORTABLE(expm1)
MR_PORTABLE(tanh)

}  // namespace mr::portable
