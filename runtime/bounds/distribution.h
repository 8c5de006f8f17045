// A metric's values with their probabilities, and the smoothed distribution function F~(s) = sum of w_k sigma(a (s -
// x_k)) (Westerborg 2022, Algorithm 2) with its derivative for training.
#pragma once

#include <utility>
#include <vector>

#include "runtime/bounds/enumeration.h"
#include "runtime/bounds/logit_table.h"

namespace mr {

/// Equally likely values, sorted, with counts of repeated values.
struct CountedValues {
  std::vector<double> distinct = {};  // the different values, ascending
  // for each different value, how many values are smaller; then the total; empty if no value is repeated
  std::vector<uint32_t> before = {};
  int64_t total = 0;        // number of all values; a repeated value counts each time
  double mean = 0, sd = 0;  // mean and standard deviation of all values; a repeated value counts each time
};

class Distribution {
 public:
  /// Makes a distribution from one or more equally likely values in any order. Values that differ by less than 1e-12
  /// max(1, |x|) are merged.
  explicit Distribution(std::vector<double> values);
  explicit Distribution(CountedValues values) : counted_(std::move(values)) {}
  /// Makes a distribution from values with given probabilities.
  explicit Distribution(const Atoms& atoms);

  double min() const { return values().front(); }
  double max() const { return values().back(); }
  double mean() const { return counted_.mean; }
  double sd() const { return counted_.sd; }
  const std::vector<double>& values() const { return counted_.distinct; }
  /// Returns the equally likely values with their counts.
  const CountedValues& counted() const { return counted_; }
  double probability(size_t i) const { return weights_.empty() ? below(i + 1) - below(i) : weights_[i]; }
  /// Returns the steepness of Eq. 3.13; infinite for a single value.
  double sample_steepness() const { return static_cast<double>(values().size()) / (max() - min()); }

  /// Returns the probability of values <= s.
  double cdf(double s) const;
  /// Returns the smallest value with cdf >= q.
  double quantile(double q) const;
  /// Returns F~ and its derivative at s with this steepness; 1/2 for a single value.
  Smoothed smooth(double s, double steepness) const;
  /// Returns F~ with this steepness as a table.
  LogitTable table(double steepness) const;
  int64_t bytes() const;

 private:
  double below(size_t i) const;

  CountedValues counted_;
  // probability of each value, and in `below_` the sum over smaller values; empty if values are equally likely
  std::vector<double> weights_;
  std::vector<double> below_;
};

}  // namespace mr
