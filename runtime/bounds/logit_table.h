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

  /// Makes the table of F~(s) = sum of weights[i] sigma(steepness (s - at[i])). `at` is ascending; weights are positive
  /// with sum 1. A single value gives the constant 1/2.
  LogitTable(const std::vector<double>& at, const std::vector<double>& weights, double steepness);
  explicit LogitTable(const Spectrum& spectrum);
  /// Makes a table from knots with the layout of `knots()`.
  LogitTable(double first, double step, std::vector<double> knots);

  /// Returns F~ at s and the derivative of its interpolant. The logit is linear outside of the table.
  Smoothed at(double s) const;
  /// Returns a view for kernels. This table owns the memory.
  LogitView view(Device device) const;

  double first() const { return first_; }
  double step() const { return step_; }
  /// Returns the knots, [count][2]: logit F~ and its slope.
  const std::vector<double>& knots() const { return knots_; }
  int64_t bytes() const { return static_cast<int64_t>(knots_.capacity() * sizeof(double)); }

 private:
  /// Adds a knot. Slopes are limited so that the curve rises and is nowhere steeper than `steepness`.
  void add(double logit, double slope, double steepness);
  void cap_slopes();

  double first_ = 0, step_ = 0;
  std::vector<double> knots_;
  mutable Tensor on_cuda_;
};

}  // namespace mr
