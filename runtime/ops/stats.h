// What the statistics share: values without NaN, which stands for a value that is not there. How many were left out is
// always told.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/cpu/pool.h"
#include "runtime/tensor/tensor.h"

namespace mr::stats {

inline constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

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

/// a - b of the pairs without NaN.
struct Differences {
  std::vector<double> values;
  int64_t skipped = 0;

  Differences(const Tensor& a, const Tensor& b);
  int64_t count() const { return static_cast<int64_t>(values.size()); }
};

double mean(const std::vector<double>& x);
/// With n - 1 in the denominator; NaN of fewer than two values.
double standard_deviation(const std::vector<double>& x);
/// Linear between order statistics (type 7 of Hyndman & Fan 1996).
double sorted_quantile(const std::vector<double>& sorted, double p);

}  // namespace mr::stats
