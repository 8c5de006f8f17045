// The values x_k of a metric with their probabilities w_k. Also the smoothed distribution function F~(s) = sum of w_k
// sigma(a (s - x_k)) with steepness a (Westerborg 2022, Algorithm 2), and its derivative for training.
#pragma once

#include <utility>
#include <vector>

#include "runtime/bounds/enumeration.h"
#include "runtime/bounds/logit_table.h"

namespace mr {

/// The values of a metric for equally likely rankings: the distinct values, sorted, and how often each one occurs.
struct CountedValues {
  std::vector<double> distinct = {};  // the distinct values, ascending
  // For each distinct value, how many values (with repeats) are smaller, and at the end the number of all values. Empty
  // if no value is repeated.
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
  /// Makes a distribution from a list of values with their probabilities.
  explicit Distribution(const Atoms& atoms);

  double min() const { return values().front(); }
  double max() const { return values().back(); }
  double mean() const { return counted_.mean; }
  double sd() const { return counted_.sd; }
  const std::vector<double>& values() const { return counted_.distinct; }
  /// Returns the distinct values and how often each one occurs, for a distribution of equally likely values.
  const CountedValues& counted() const { return counted_; }
  double probability(size_t i) const { return weights_.empty() ? below(i + 1) - below(i) : weights_[i]; }
  /// Returns the steepness of Westerborg 2022, Eq. 3.13: the number of distinct values divided by their range. It is
  /// infinite for a single value.
  double sample_steepness() const { return static_cast<double>(values().size()) / (max() - min()); }

  /// Returns the probability that the metric is at most s. Values that differ from s by rounding only count as s.
  double cdf(double s) const;
  /// Returns the q-quantile: the smallest value whose cumulative probability is at least q.
  double quantile(double q) const;
  /// Returns the smoothed distribution function F~ with this steepness, and its derivative, at s. A distribution of a
  /// single value has F~ = 1/2.
  Smoothed smooth(double s, double steepness) const;
  /// Returns a table of the smoothed distribution function F~ with this steepness.
  LogitTable table(double steepness) const;
  int64_t bytes() const;

 private:
  double below(size_t i) const;

  CountedValues counted_;
  // `weights_` has the probability of each value, and `below_` the probability of all smaller values. Both are empty if
  // the values come from equally likely rankings.
  std::vector<double> weights_;
  std::vector<double> below_;
};

}  // namespace mr
