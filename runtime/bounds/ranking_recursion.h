// A metric's characteristic function over random rankings, computed for blocks of frequencies by recursion over ranks,
// on CPU or GPU.
#pragma once

#include <vector>

#include "kernels/bounds/characteristic_cpu.h"
#include "runtime/bounds/increments.h"
#include "runtime/tensor/tensor.h"

namespace mr {

/// The levels (rows with the same gain) of a list relative to a base level. The base adds nothing and has weight 1;
/// each other level adds its gain minus the base's. The base is the level with the most rows, or the irrelevant rows if
/// relevant rows are counted.
struct Increase {
  std::vector<double> gain, weight;
  std::vector<int64_t> rows;
  double base = 0;  // gain of the rows of the base level
  double states = 1;
};
Increase increase_of(const ListShape& shape, Increment kind = Increment::linear);

class RankingRecursion {
 public:
  /// On a GPU only lists with one level besides the base are computed; other lists are computed on the CPU.
  RankingRecursion(const Increments& add, const ListShape& shape, Device device);

  bool one_level() const { return transform_.levels == 1; }
  /// Returns the constant part of every ranking's sum, which the recursion leaves out.
  double always() const { return always_; }
  /// Computes log E exp(tilt[j] (X - mean)) for the sum X of one level's increments, at cpu::frequency_lanes tilts.
  void log_moments(double mean, const double* tilt, double* out);

  /// Sets the frequencies that the next calls of `next` return to step, 2 step, ...
  void set_step(double step);
  /// Computes E exp(i t X) at the next cpu::frequency_lanes frequencies t.
  void next(double* re, double* im);

  /// number of calls of `next` for which one launch on the GPU computes the values
  static constexpr int64_t calls_per_launch = 16;
  bool runs_on_device() const { return device_ == Device::cuda && one_level(); }
  /// Launches, for all given recursions that run on the GPU and have used up their values, the computation for the next
  /// calls of `next`.
  static void launch(const std::vector<RankingRecursion*>& all);

 private:
  // number of frequencies that one launch on the GPU computes
  static constexpr int64_t block = calls_per_launch * cpu::frequency_lanes;
  void turn(size_t at);

  Device device_;
  cpu::RankingTransform transform_;
  double always_ = 0, step_ = 0;
  std::vector<int64_t> rows_;
  std::vector<double> weights_;
  std::vector<int32_t> low_, high_;
  std::vector<double> angle_, start_, powers_, scratch_;
  int64_t taken_ = 0;  // number of frequencies that `next` has returned so far
  // values of the last GPU launch, for the block of frequencies that contains the next one (taken_ + 1): real parts,
  // then imaginary parts
  std::vector<double> ready_;
};

}  // namespace mr
