// Algorithm 2 of Westerborg (2022), exactly as printed: the reference for approximations by tables and series.
#pragma once

#include <cmath>
#include <vector>

#include "runtime/bounds/spectrum.h"

namespace mr::test {

/// Returns the smoothed distribution function F~(s), which is the mean of sigma(steepness (s - x)) over all values x,
/// and its derivative.
inline Smoothed smoothed_sum(const std::vector<double>& values, double steepness, double s) {
  long double value = 0, derivative = 0;
  for (const double x : values) {
    const double t = steepness * (s - x), e = std::exp(-std::fabs(t));
    value += (t >= 0 ? 1 : e) / (1 + e);
    derivative += steepness * e / ((1 + e) * (1 + e));
  }
  const auto count = static_cast<long double>(values.size());
  return {static_cast<double>(value / count), static_cast<double>(derivative / count)};
}

}  // namespace mr::test
