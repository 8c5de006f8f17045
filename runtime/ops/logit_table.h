// A smoothed distribution function F~ as a table of logit F~ at equal steps, read by cubic Hermite interpolation:
// small, never falling, and exact to about 1e-6 in F~, also relatively far out in the tails.
#pragma once

#include <cstdint>
#include <vector>

namespace mr {

struct Smoothed {
  double value, derivative;
};

class LogitTable {
 public:
  /// F~(s) = sum of weights[i] sigma(gain (s - at[i])), `at` ascending, weights positive and of sum 1. A single value
  /// makes the constant 1/2.
  LogitTable(const std::vector<double>& at, const std::vector<double>& weights, double gain);

  /// F~ and its derivative, which is that of the interpolant; beyond the table the logit goes on as a line.
  Smoothed at(double s) const;
  int64_t bytes() const { return static_cast<int64_t>((logit_.capacity() + slope_.capacity()) * sizeof(double)); }

 private:
  void cap_slopes();

  double first_ = 0, step_ = 0;
  std::vector<double> logit_, slope_;
};

}  // namespace mr
