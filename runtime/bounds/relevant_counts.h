// Computes the distribution of the number of relevant rows in the first r ranks of a random ranking, for one rank r
// after another.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace mr {

class RelevantCounts {
 public:
  /// Starts before the first rank of a random ranking of n rows, of which p are relevant. `weight` is the sampling
  /// weight of a relevant row; all other rows have weight 1.
  RelevantCounts(int64_t n, int64_t p, double weight)
      : n_(n), p_(p), weight_(weight), mass_(static_cast<size_t>(p) + 1, 0.0) {
    mass_[0] = 1;
  }

  /// Goes on to the next rank. Numbers of relevant rows with a probability below 1e-19 are dropped.
  void next() {
    constexpr double unlikely = 1e-19;
    most_ = std::min(most_ + 1, p_);
    for (int64_t c = most_; c >= least_; --c) {
      mass_[c] *= others(c) / (wanted(c) + others(c));
      if (c > least_) mass_[c] += mass_[c - 1] * (wanted(c - 1) / (wanted(c - 1) + others(c - 1)));
    }
    ++rank_;
    while (least_ < most_ && mass_[least_] < unlikely) mass_[least_++] = 0;
    while (most_ > least_ && mass_[most_] < unlikely) mass_[most_--] = 0;
  }

  int64_t least() const { return least_; }
  int64_t most() const { return most_; }
  double probability(int64_t c) const { return mass_[c]; }

 private:
  /// `wanted` returns the total sampling weight of the relevant rows that have no rank yet, if c relevant rows have
  /// one. `others` returns that of the irrelevant rows.
  double wanted(int64_t c) const { return static_cast<double>(p_ - c) * weight_; }
  double others(int64_t c) const { return static_cast<double>(n_ - rank_ - (p_ - c)); }

  int64_t n_, p_, rank_ = 0, least_ = 0, most_ = 0;
  double weight_;
  std::vector<double> mass_;
};

}  // namespace mr
