// Standard normal numbers by inversion of the distribution function (Wichura 1988, algorithm AS 241, PPND16), with a
// portable logarithm so that every device gives the same bits.
#pragma once

#include <cstdint>

#include "kernels/core/rng.h"

namespace mr {

/// Returns log(x) for x in (0, 1], to 1e-15. Random numbers use this function and not that of core/logarithms.h,
/// because their bits must not change.
MR_HD inline double portable_log(double x) {
  int exponent = 0;
  while (x < 0.7071067811865476) {
    x *= 2;
    --exponent;
  }
  const double s = (x - 1) / (x + 1);
  const double s2 = s * s;
  double series = 0;
  for (int k = 25; k >= 3; k -= 2) series = (series + 1.0 / k) * s2;
  return 2 * s * (1 + series) + exponent * 0.6931471805599453;
}

/// Returns the square root of x > 0 by Newton's method, which is not always correctly rounded. std::sqrt would change
/// the bits of random numbers.
MR_HD inline double portable_sqrt(double x) {
  double scale = 1;
  while (x > 4) {
    x *= 0.25;
    scale *= 2;
  }
  while (x < 0.25) {
    x *= 4;
    scale *= 0.5;
  }
  double root = 0.5 * (x + 1);
  for (int i = 0; i < 6; ++i) root = 0.5 * (root + x / root);
  return root * scale;
}

template <int N>
MR_HD double horner(const double (&c)[N], double x) {
  double value = c[N - 1];
  for (int i = N - 2; i >= 0; --i) value = value * x + c[i];
  return value;
}

/// Returns the z with Pr(Z <= z) = p for a standard normal Z and p in (0, 1). The relative error is about 1e-15.
MR_HD inline double normal_quantile(double p) {
  const double a[] = {3.3871328727963666080,   1.3314166789178437745e2, 1.9715909503065514427e3,
                      1.3731693765509461125e4, 4.5921953931549871457e4, 6.7265770927008700853e4,
                      3.3430575583588128105e4, 2.5090809287301226727e3};
  const double b[] = {1.0,
                      4.2313330701600911252e1,
                      6.8718700749205790830e2,
                      5.3941960214247511077e3,
                      2.1213794301586595867e4,
                      3.9307895800092710610e4,
                      2.8729085735721942674e4,
                      5.2264952788528545610e3};
  const double c[] = {1.42343711074968357734,    4.63033784615654529590,   5.76949722146069140550,
                      3.64784832476320460504,    1.27045825245236838258,   2.41780725177450611770e-1,
                      2.27238449892691845833e-2, 7.74545014278341407640e-4};
  const double d[] = {1.0,
                      2.05319162663775882187,
                      1.67638483018380384940,
                      6.89767334985100004550e-1,
                      1.48103976427480074590e-1,
                      1.51986665636164571966e-2,
                      5.47593808499534494600e-4,
                      1.05075007164441684324e-9};
  const double e[] = {6.65790464350110377720,    5.46378491116411436990,    1.78482653991729133580,
                      2.96560571828504891230e-1, 2.65321895265761230930e-2, 1.24266094738807843860e-3,
                      2.71155556874348757815e-5, 2.01033439929228813265e-7};
  const double f[] = {1.0,
                      5.99832206555887937690e-1,
                      1.36929880922735805310e-1,
                      1.48753612908506148525e-2,
                      7.86869131145613259100e-4,
                      1.84631831751005468180e-5,
                      1.42151175831644588870e-7,
                      2.04426310338993978564e-15};
  const double q = p - 0.5;
  if (q >= -0.425 && q <= 0.425) {
    const double r = 0.180625 - q * q;
    return q * horner(a, r) / horner(b, r);
  }
  const double tail = q < 0 ? p : 1 - p;
  const double r = portable_sqrt(-portable_log(tail));
  const double z = r <= 5 ? horner(c, r - 1.6) / horner(d, r - 1.6) : horner(e, r - 5) / horner(f, r - 5);
  return q < 0 ? -z : z;
}

/// Returns the standard normal number at position `index` of a random sequence.
MR_HD inline double normal(RandomKey key, uint64_t index) {
  const double p = (static_cast<double>(philox(key, index).low() >> 11) + 0.5) * 0x1p-53;
  return normal_quantile(p);
}

}  // namespace mr
