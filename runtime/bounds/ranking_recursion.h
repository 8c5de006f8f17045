// A metric's characteristic function over random rankings, computed for blocks of frequencies by recursion over ranks,
// on CPU or GPU.
#pragma once

#include <vector>

#include "kernels/bounds/characteristic_cpu.h"
#include "runtime/bounds/increments.h"
#include "runtime/tensor/tensor.h"

namespace mr {

/// The levels of a list (a level is all rows with the same gain), except for one base level. The base adds nothing to
/// the sum and has sampling weight 1. Every other level has its gain minus the base's. The base is the level with the
/// most rows; for AP, which counts relevant rows, it is the irrelevant rows.
struct Increase {
  std::vector<double> gain, weight;
  std::vector<int64_t> rows;
  double base = 0;  // gain of the rows of the base level (that of most rows), which was subtracted from all gains
  double states = 1;
};
Increase increase_of(const ListShape& shape, Increment kind = Increment::linear);

class RankingRecursion {
 public:
  /// Prepares the characteristic function of a metric for one list shape. The GPU computes it only if the list has two
  /// levels (rows with the same gain); for other lists, `device` is ignored.
  RankingRecursion(const Increments& add, const ListShape& shape, Device device);

  bool one_level() const { return transform_.levels == 1; }
  /// Returns the part of the metric's sum that is the same for every ranking. The recursion leaves it out.
  double always() const { return always_; }
  /// Computes log E exp(tilt[j] (X - mean)) at cpu::frequency_lanes tilts, where X is the metric's sum over a random
  /// ranking. Only for lists whose rows have two different gains.
  void log_moments(double mean, const double* tilt, double* out);

  /// Sets the frequencies at which `next` computes values: step, 2 step, 3 step and so on.
  void set_step(double step);
  /// Computes the characteristic function E exp(i t X) at the next cpu::frequency_lanes frequencies t: real and
  /// imaginary parts.
  void next(double* re, double* im);

  /// One launch on the GPU computes the values for this many calls of `next`.
  static constexpr int64_t calls_per_launch = 16;
  bool runs_on_device() const { return device_ == Device::cuda && one_level(); }
  /// Computes values for the next calls of `next` in one launch on the GPU. All given recursions must run on the GPU
  /// and have no values left.
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
  // values that the last GPU launch computed and that calls of `next` return: all real parts, then all imaginary parts
  std::vector<double> ready_;
};

}  // namespace mr
