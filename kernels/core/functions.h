// Elementary functions of our own, so that results do not depend on the C library, its version or the form of a
// function that it takes for a processor. Exponential functions and the hyperbolic tangent here; logarithms.h,
// powers.h, angles.h. Additions, multiplications, divisions and bits of doubles alone: no fused operation, since not
// every processor has them. Few branches, so that compilers make vectors of loops over them. Each is right to about one
// unit in the last place (the tests say how far), floats to half of one. The GPU has its own. All is static: of code
// shared with other files the linker could take the copy of one that is compiled for wider vectors.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "kernels/core/hd.h"

// A function of one argument for both types, on both processors.
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

/// a + b x + c x^2 + d x^3, where x2 is x^2.
static inline MR_HD double cubic(double a, double b, double c, double d, double x, double x2) {
  return (a + b * x) + (c + d * x) * x2;
}

/// The nearest integer, for |x| < 2^51.
static inline MR_HD double nearest(double x) { return (x + 0x1.8p52) - 0x1.8p52; }

/// x 2^k for integers |k| < 2046, in two steps: what lies between may be subnormal or infinite.
static inline MR_HD double scaled(double x, double k) {
  const double half = nearest(0.5 * k), bias = 0x1.8p52 + 1023;
  return x * from_bits(bits_of(half + bias) << 52) * from_bits(bits_of(k - half + bias) << 52);
}

/// exp(r + low) - 1 - r for |r| < 0.35 and a rounding error `low` of r: Taylor's polynomial of degree 13.
static inline MR_HD double exp_beyond(double r, double low) {
  const double r2 = r * r, r4 = r2 * r2;
  const double p = cubic(1. / 2, 1. / 6, 1. / 24, 1. / 120, r, r2) +
                   r4 * (cubic(1. / 720, 1. / 5040, 1. / 40320, 1. / 362880, r, r2) +
                         r4 * cubic(1. / 3628800, 1. / 39916800, 1. / 479001600, 1. / 6227020800, r, r2));
  return r2 * p + (low + low * r);
}

/// k ln 2 for integers |k| < 2^20 in two parts, the first exact: ln 2 is in two, of which the first is short.
struct TimesLn2 {
  double high, low;
};
static inline MR_HD TimesLn2 times_ln2(double k) { return {k * 0x1.62e42fefp-1, k * 0x1.473de6af278edp-34}; }

/// x = k ln 2 + r + low, |r| <= ln(2) / 2; beyond [-1100, 1100] that of the end.
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

/// Integers, which grades mostly are, give powers of two exactly, and at once.
static inline MR_HD double exp2(double x) {
  x = x > 1500 ? 1500 : x;
  x = x < -1500 ? -1500 : x;
  const double k = nearest(x), r = (x - k) * 0.69314718055994530942;
  if (r == 0) return scaled(1, k);
  return scaled(1 + (r + exp_beyond(r, 0)), k);
}

/// exp(x) - 1, also where x is small. 2^k (exp(r) - 1 + 1 - 2^-k), where 1 - 2^-k takes part before the small terms do.
static inline MR_HD double expm1(double x) {
  if (x > 709) return exp(x);
  if (x < -40) return -1;
  const auto [k, r, low] = remainder_of_ln2(x);
  const double beyond = exp_beyond(r, low);
  if (k == 0) return x == 0 ? x : r + beyond;
  return scaled(((1 - scaled(1, -k)) + r) + beyond, k);
}

/// Pade's approximant near 0, which has no digits to lose there; else by the exponential.
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
