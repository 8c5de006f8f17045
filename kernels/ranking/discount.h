// Gain and discount of DCG, defined only here: the gain G(y) of grade y, and the discount d(r) = 1 / log2(r + 1) of
// rank r.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"
#include "kernels/core/logarithms.h"

namespace mr {

/// The formula for the gain of a grade y: 2^y - 1 (Burges et al. 2005, the default), y (Järvelin & Kekäläinen 2002), or
/// 2^(y+1) - 1, which some published code computes by adding 1 to every grade.
enum class Gain : int8_t { exp2, linear, exp2_plus_one };

/// Returns 2^x with the bits of portable::exp2, which is slower for whole numbers. Most grades are whole numbers.
MR_HD inline double power_of_2(double x) {
  if (x >= 0 && x < 63 && static_cast<double>(static_cast<int64_t>(x)) == x) {
    return static_cast<double>(int64_t{1} << static_cast<int64_t>(x));
  }
  return portable::exp2(x);
}

MR_HD inline double gain_of(double grade, Gain kind = Gain::exp2) {
  if (kind == Gain::linear) return grade;
  return power_of_2(kind == Gain::exp2 ? grade : grade + 1) - 1;
}

/// Returns the discount of a rank, which may be fractional.
MR_HD inline double discount(double rank) { return 0.69314718055994530942 / portable::log1p(rank); }

/// Holds the discount and its derivative by the rank, from one logarithm. Static for the reason in functions.h.
struct SlopedDiscount {
  double value, slope;
};
static inline MR_HD SlopedDiscount sloped_discount(double rank) {
  const double log = portable::log1p(rank), value = 0.69314718055994530942 / log;
  return {value, -value / ((rank + 1) * log)};
}

}  // namespace mr
