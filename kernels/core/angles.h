// Portable sine, cosine and arc tangent, whose results do not depend on the C library (functions.h gives the reason).
#pragma once

#include "kernels/core/functions.h"

namespace mr::portable {
namespace plain {

/// An angle x, split into a number of quarter turns and a rest r with the rounding error `low`: x = quarters pi / 2 +
/// r + low, |r| <= pi / 4.
struct Angle {
  double quarters, r, low;
};

/// Splits an angle. pi / 2 is stored in three parts, of which the first two are so short that their product with an
/// integer up to 2^20 is exact. A larger |x| is less exact, as if x had been rounded. From 2^50 on the result is NaN.
static inline MR_HD Angle angle_of(double x) {
  constexpr double first = 0x1.921fb544p+0, second = 0x1.0b4611a6p-34, third = 0x1.3198a2e037073p-69;
  const double k = nearest(x * 0.63661977236758134308), a = x - k * first, b = k * second, c = k * third;
  const double y = a - b, y_low = (a - y) - b, r = y - (c - y_low), low = (y - r) - (c - y_low);
  return {k, x < 0x1p50 && x > -0x1p50 ? r : static_cast<double>(NAN), low};
}

static inline MR_HD double sine_within(double r, double low) {
  const double z = r * r, z2 = z * z;
  const double p = cubic(-1. / 6, 1. / 120, -1. / 5040, 1. / 362880, z, z2) +
                   z2 * z2 * cubic(-1. / 39916800, 1. / 6227020800, -1. / 1307674368000, 1. / 355687428096000, z, z2);
  return r + (r * z * p + low * (1 - 0.5 * z));
}

static inline MR_HD double cosine_within(double r, double low) {
  const double z = r * r, z2 = z * z, half = 0.5 * z, near = 1 - half;
  const double p =
      cubic(1. / 24, -1. / 720, 1. / 40320, -1. / 3628800, z, z2) +
      z2 * z2 * cubic(1. / 479001600, -1. / 87178291200, 1. / 20922789888000, -1. / 6402373705728000, z, z2);
  return near + (((1 - near) - half) + (z2 * p - r * low));
}

/// Returns the sine of x plus `ahead` quarter turns.
static inline MR_HD double turned(double x, uint64_t ahead) {
  constexpr uint64_t sign = uint64_t{1} << 63;
  const Angle angle = angle_of(x);
  const uint64_t quarter = bits_of(angle.quarters + 0x1.8p52) + ahead;
  const double sine = sine_within(angle.r, angle.low), cosine = cosine_within(angle.r, angle.low);
  return from_bits(bits_of((quarter & 1) != 0 ? cosine : sine) ^ ((quarter & 2) != 0 ? sign : 0));
}

static inline MR_HD double sin(double x) { return x == 0 ? x : turned(x, 0); }
static inline MR_HD double cos(double x) { return turned(x, 1); }

/// Returns the arc tangent of x. Above 1, it is pi / 2 minus the arc tangent of 1 / x. An angle above pi / 8 is reduced
/// by pi / 4, by the formula for the tangent of a difference. The arc tangent of what is left is a series.
static inline MR_HD double atan(double x) {
  const double size = x < 0 ? -x : x, inside = size > 1 ? 1 / size : size;
  const bool turned = inside > 0.41421356237309504880;
  const double t = turned ? (inside - 1) / (inside + 1) : inside, square = t * t;
  double sum = 0;
  for (int k = 41; k >= 1; k -= 2) sum = sum * square + (k % 4 == 1 ? 1. : -1.) / k;
  const double eighth = sum * t + (turned ? 0.78539816339744830962 : 0);
  const double angle = size > 1 ? 1.57079632679489661923 - eighth : eighth;
  return x < 0 ? -angle : angle;
}

}  // namespace plain

MR_PORTABLE(atan)
MR_PORTABLE(sin)
MR_PORTABLE(cos)

}  // namespace mr::portable
