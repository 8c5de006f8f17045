// Values with their probabilities, and smoothed versions of their distribution function
// F~(s) = sum of w_k sigma(a (s - x_k)) (Westerborg 2022, Algorithm 2) with the derivative that training needs.
#pragma once

#include <utility>
#include <vector>

#include "runtime/bounds/enumeration.h"
#include "runtime/bounds/logit_table.h"

namespace mr {

/// Equally likely values, sorted and counted.
struct CountedValues {
  std::vector<double> distinct = {};  // ascending
  std::vector<uint32_t> before =
      {};                   // how many values are less than each, then all; empty where every value occurs once
  int64_t total = 0;        // how many values there are
  double mean = 0, sd = 0;  // of all of them
};

class Distribution {
 public:
  /// From values in any order, equally likely; values that differ by less than 1e-12 max(1, |x|) are one. Throws where
  /// there are none.
  explicit Distribution(std::vector<double> values);
  explicit Distribution(CountedValues values) : counted_(std::move(values)) {}
  /// A distribution of values that have different probabilities.
  explicit Distribution(const Atoms& atoms);

  double min() const { return values().front(); }
  double max() const { return values().back(); }
  double mean() const { return counted_.mean; }
  double sd() const { return counted_.sd; }
  const std::vector<double>& values() const { return counted_.distinct; }
  /// Without the probabilities of atoms.
  const CountedValues& counted() const { return counted_; }
  double probability(size_t i) const { return weights_.empty() ? below(i + 1) - below(i) : weights_[i]; }
  /// Eq. 3.13; infinite for a single value.
  double sample_gain() const { return static_cast<double>(values().size()) / (max() - min()); }

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

  CountedValues counted_;
  std::vector<double> weights_;  // probabilities, and sums below each; empty where equally likely
  std::vector<double> below_;
};

}  // namespace mr
