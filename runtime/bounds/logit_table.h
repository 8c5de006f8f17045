// A smoothed distribution function F~ as a table of logit F~ at equal steps, read by cubic Hermite interpolation. It is
// small, monotone, and accurate to a relative error of about 1e-6, also in the tails.
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

  /// Makes the table of the smoothed distribution function F~(s) = sum of weights[i] sigma(steepness (s - at[i])). The
  /// values `at` are ascending; weights are positive with sum 1. For a single value, F~ is the constant 1/2.
  LogitTable(const std::vector<double>& at, const std::vector<double>& weights, double steepness);
  explicit LogitTable(const Spectrum& spectrum);
  /// Makes a table from values in the order of `knots()`: logit F~ and its slope at each knot, for s = first, first +
  /// step, ...
  LogitTable(double first, double step, std::vector<double> knots);

  /// Returns the smoothed distribution function F~ at s and its derivative, by interpolation. Outside of the table,
  /// logit F~ continues as a line.
  Smoothed at(double s) const;
  /// Returns a view (pointer and sizes) of the table on a device, for kernels. It is valid as long as this table
  /// exists.
  LogitView view(Device device) const;

  double first() const { return first_; }
  double step() const { return step_; }
  /// Returns two numbers for each knot of the table: logit F~ and its slope.
  const std::vector<double>& knots() const { return knots_; }
  int64_t bytes() const { return static_cast<int64_t>(knots_.capacity() * sizeof(double)); }

 private:
  /// Appends a knot to the table. The logit is raised to that of the previous knot if it is lower, and the slope is
  /// limited to `steepness`.
  void add(double logit, double slope, double steepness);
  void cap_slopes();

  double first_ = 0, step_ = 0;
  std::vector<double> knots_;
  mutable Tensor on_cuda_;
};

}  // namespace mr
