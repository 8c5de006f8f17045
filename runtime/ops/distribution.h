// The distribution of a metric over random rankings, as sorted values with weights, and smoothed versions of its
// distribution function F~(s) = sum of w_k sigma(a (s - x_k)) (Westerborg 2022, Algorithm 2) with the derivative that
// training needs.
#pragma once

#include <memory>
#include <vector>

#include "runtime/ops/bound_stats.h"

namespace mr {

/// How F is smoothed: a = (number of distinct values) / (max - min), Eq. 3.13; or a = kappa / sd, read off a table of
/// logit F~.
struct Smoothing {
  bool by_samples = false;
  double kappa = 8;
};

struct Smoothed {
  double value, derivative;
};

class Distribution {
 public:
  /// From values in any order, equally likely; values that differ by less than 1e-12 max(1, |x|) are one. Throws where
  /// there are none.
  explicit Distribution(std::vector<double> values);

  double min() const { return values_.front(); }
  double max() const { return values_.back(); }
  double mean() const { return mean_; }
  double sd() const { return sd_; }
  const std::vector<double>& values() const { return values_; }
  double probability(size_t i) const { return below(i + 1) - below(i); }
  /// Eq. 3.13; infinite for a single value.
  double sample_gain() const { return static_cast<double>(values_.size()) / (max() - min()); }

  /// Share of values <= s.
  double cdf(double s) const;
  /// The least value with cdf >= q.
  double quantile(double q) const;
  Smoothed smooth(double s, Smoothing how) const;
  /// Makes the table that smoothing by kappa reads; not for two threads at once.
  void prepare(Smoothing how);
  int64_t bytes() const;

 private:
  struct Table {
    double kappa = 0, gain = 0, first = 0, step = 0;
    std::vector<double> logit, slope;
  };
  double below(size_t i) const {
    return counts_.empty() ? static_cast<double>(i) / static_cast<double>(values_.size()) : counts_[i];
  }
  Smoothed by_samples(double s) const;
  static Smoothed read(const Table& table, double s);
  Table make_table(double kappa) const;

  std::vector<double> values_;  // distinct, ascending
  std::vector<double> counts_;  // share of values before each, then 1; empty where every value came once
  double mean_ = 0, sd_ = 0;
  Table table_;
};

/// Random rankings of a shape: `samples` values of the metric that depend on (seed, n, p, sample) only.
std::vector<double> sample_metric(const BoundedMetric& metric, const ListShape& shape, int64_t samples, int64_t seed);

/// The sampled distributions of all shapes (null for degenerate ones), ready for `how`: made in parallel, kept per
/// process up to a limit of bytes, the least recently used going first.
std::vector<std::shared_ptr<const Distribution>> sampled_distributions(const BoundedMetric& metric,
                                                                       const std::vector<ListShape>& shapes,
                                                                       int64_t samples, int64_t seed, Smoothing how);

}  // namespace mr
