// Values with their probabilities, and smoothed versions of their distribution function
// F~(s) = sum of w_k sigma(a (s - x_k)) (Westerborg 2022, Algorithm 2) with the derivative that training needs.
#pragma once

#include <vector>

#include "runtime/bounds/enumeration.h"
#include "runtime/bounds/logit_table.h"

namespace mr {

class Distribution {
 public:
  /// From values in any order, equally likely; values that differ by less than 1e-12 max(1, |x|) are one. Throws where
  /// there are none.
  explicit Distribution(std::vector<double> values);
  /// The same with probabilities.
  explicit Distribution(const Atoms& atoms);

  double min() const { return values_.front(); }
  double max() const { return values_.back(); }
  double mean() const { return mean_; }
  double sd() const { return sd_; }
  const std::vector<double>& values() const { return values_; }
  double probability(size_t i) const { return weights_.empty() ? below(i + 1) - below(i) : weights_[i]; }
  /// Eq. 3.13; infinite for a single value.
  double sample_gain() const { return static_cast<double>(values_.size()) / (max() - min()); }

  /// Share of values <= s.
  double cdf(double s) const;
  /// The least value with cdf >= q.
  double quantile(double q) const;
  /// F~ at s with gain a; for a single value 1/2.
  Smoothed smooth(double s, double gain) const;
  /// F~ with gain a as a table.
  LogitTable table(double gain) const;
  int64_t bytes() const;

 private:
  double below(size_t i) const;

  std::vector<double> values_;    // distinct, ascending
  std::vector<uint32_t> before_;  // how many values are less than each, then all; empty where every value occurs once
  std::vector<double> weights_;   // probabilities, and sums below each; empty where equally likely
  std::vector<double> below_;
  double total_ = 0;  // how many values there are
  double mean_ = 0, sd_ = 0;
};

/// Random rankings of a shape: `samples` values of the metric that depend on (seed, n, p, sample) only, drawn on
/// `device`.
std::vector<double> sample_metric(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed,
                                  Device device = Device::cpu);

}  // namespace mr
