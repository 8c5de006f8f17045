// Helpers that the statistics share. NaN is a missing value and is left out; results always say how
// many were left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/core/patient.h"
#include "runtime/tensor/tensor.h"

namespace mr::stats {

inline constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
/// Values nearer to each other have no spread: squares of bandwidths for them would vanish.
inline constexpr double least_spread = 1e-100;

/// The values of x that are not NaN; infinite ones are refused.
struct Sample {
  std::vector<double> values;
  int64_t skipped = 0;

  Sample(const char* name, const Tensor& x);
  int64_t count() const { return static_cast<int64_t>(values.size()); }
};

/// The pairs without NaN, as many of a as of b.
struct Pairs {
  std::vector<double> a, b;
  int64_t skipped = 0;

  Pairs(const char* name_a, const Tensor& a, const char* name_b, const Tensor& b);
};

/// Sums and differences that are nearer to each other than this share of the largest one count as equal.
inline constexpr double tolerance = 1e-9;

/// a - b of the pairs without NaN. It is 0 where both are the same infinity, and where a and b differ only by rounding:
/// by 4 steps of float32, or by 64 steps of float64. Very large and very small ones are in a unit, a power of two, so
/// that their squares can be added.
struct Differences {
  std::vector<double> values;
  double unit = 1;
  double rounding = 0, largest_rounding = 0;  ///< errors of the differences by rounding: their sum, the largest one
  int64_t skipped = 0, infinite = 0;          ///< pairs with NaN, pairs with an infinite value

  Differences(const Tensor& a, const Tensor& b);
  int64_t count() const { return static_cast<int64_t>(values.size()); }
  /// True if all are this number, but for rounding.
  bool alike(double centre) const;
};

/// Calls f(i) for all i below count in order; between pieces it checks for Ctrl-C, also within a task of the pool.
template <class F>
void each(int64_t count, const F& f) {
  constexpr int64_t piece = int64_t{1} << 16;
  for (int64_t first = 0; first < count; first += piece) {
    if (first > 0) cpu::check_interrupt();
    for (int64_t i = first, last = std::min(count, first + piece); i < last; ++i) f(i);
  }
}

using cpu::patient;
void sort(std::vector<double>& x);

double mean(const std::vector<double>& x);
/// With n - 1 in the denominator; NaN of fewer than two values.
double standard_deviation(const std::vector<double>& x);
/// Linear between order statistics (type 7 of Hyndman & Fan 1996).
double sorted_quantile(const std::vector<double>& sorted, double p);

}  // namespace mr::stats
