// Shared helpers for statistics. NaN is a missing value and is left out; results include the number of values left out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/core/patient.h"
#include "runtime/tensor/tensor.h"

namespace mr::stats {

inline constexpr double undefined = std::numeric_limits<double>::quiet_NaN();
/// Values closer than this count as equal, because squares of their bandwidths would underflow.
inline constexpr double least_spread = 1e-100;

/// The values of x without NaN. Throws if a value is infinite.
struct Sample {
  std::vector<double> values;
  int64_t skipped = 0;

  Sample(const char* name, const Tensor& x);
  int64_t count() const { return static_cast<int64_t>(values.size()); }
};

/// The pairs of a and b without NaN. Throws if a and b differ in length.
struct Pairs {
  std::vector<double> a, b;
  int64_t skipped = 0;

  Pairs(const char* name_a, const Tensor& a, const char* name_b, const Tensor& b);
};

/// Two sums or differences count as equal if they differ by less than this fraction of the largest one.
inline constexpr double tolerance = 1e-9;

/// The differences a - b of the pairs without NaN. A difference is 0 if both values are the same infinity, or differ
/// only by rounding: by at most 2^-22 (float32) or 2^-46 (float64) times |a| + |b|. Very large or very small
/// differences are scaled by a power of two, so that their squares can be summed.
struct Differences {
  std::vector<double> values;
  double unit = 1;
  /// bounds on the rounding errors of the differences: their sum, and the largest one
  double rounding = 0, largest_rounding = 0;
  int64_t skipped = 0, infinite = 0;  ///< number of pairs with NaN, and of pairs with an infinite value

  Differences(const Tensor& a, const Tensor& b);
  int64_t count() const { return static_cast<int64_t>(values.size()); }
  /// Returns true if all differences equal `centre` up to rounding.
  bool alike(double centre) const;
};

/// Calls f(i) for i below count, in order. Checks for Ctrl-C after every 65536 calls, also within a task of the thread
/// pool.
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
/// Returns the sample standard deviation, with n - 1 in the denominator; NaN for fewer than two values.
double standard_deviation(const std::vector<double>& x);
/// Returns a quantile by linear interpolation of order statistics (type 7 of Hyndman & Fan 1996).
double sorted_quantile(const std::vector<double>& sorted, double p);

}  // namespace mr::stats
