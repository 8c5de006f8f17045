// A smoothed distribution function F~ as a table of logit F~ at equal steps, read by cubic Hermite interpolation:
// small, monotone, and exact to about 1e-6 of F~, relative also in the tails.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/bounds/logit_table.h"
#include "runtime/bounds/spectrum.h"
#include "runtime/tensor/tensor.h"

namespace mr {

class LogitTable {
 public:
  static constexpr double most_knots = 4096;

  /// F~(s) = sum of weights[i] sigma(gain (s - at[i])), `at` ascending, weights positive and of sum 1. A single value
  /// makes the constant 1/2.
  LogitTable(const std::vector<double>& at, const std::vector<double>& weights, double gain);
  explicit LogitTable(const Spectrum& spectrum);
  /// From knots as in `knots()`.
  LogitTable(double first, double step, std::vector<double> knots);

  /// F~ and its derivative, which is that of the interpolant; beyond the table the logit is linear.
  Smoothed at(double s) const;
  /// For kernels; the memory belongs to this table.
  LogitView view(Device device) const;

  double first() const { return first_; }
  double step() const { return step_; }
  /// [count][2]: logit F~ and its slope.
  const std::vector<double>& knots() const { return knots_; }
  int64_t bytes() const { return static_cast<int64_t>(knots_.capacity() * sizeof(double)); }

 private:
  /// Rising knots with slopes that keep the curve between them rising, and none steeper than `gain`.
  void add(double logit, double slope, double gain);
  void cap_slopes();

  double first_ = 0, step_ = 0;
  std::vector<double> knots_;
  mutable Tensor on_cuda_;
};

}  // namespace mr
