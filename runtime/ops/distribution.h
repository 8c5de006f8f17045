// The distribution of a metric over random rankings, as sorted values with weights, and smoothed versions of its
// distribution function F~(s) = sum of w_k sigma(a (s - x_k)) (Westerborg 2022, Algorithm 2) with the derivative that
// training needs.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "runtime/ops/bound_stats.h"
#include "runtime/ops/logit_table.h"

namespace mr {

/// How F is smoothed: a = (number of distinct values) / (max - min), Eq. 3.13; or a = kappa / sd, read off a table of
/// logit F~.
struct Smoothing {
  bool by_samples = false;
  double kappa = 8;
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
  /// F~ at s by Eq. 3.13; for a single value 1/2.
  Smoothed smooth_by_samples(double s) const;
  /// F~ with gain kappa / sd.
  LogitTable table(double kappa) const;
  int64_t bytes() const;

 private:
  double below(size_t i) const { return static_cast<double>(before_.empty() ? i : before_[i]) / total_; }

  std::vector<double> values_;    // distinct, ascending
  std::vector<uint32_t> before_;  // how many came before each, then all; empty where every value came once
  double total_ = 0;              // how many came
  double mean_ = 0, sd_ = 0;
};

/// F~ of one distribution, with no more memory than it needs: by kappa only the table is kept, not the values.
class SmoothCdf {
 public:
  SmoothCdf(Distribution distribution, Smoothing how);
  Smoothed at(double s) const;
  int64_t bytes() const;

 private:
  std::variant<Distribution, LogitTable> form_;
};

/// Random rankings of a shape: `samples` values of the metric that depend on (seed, n, p, sample) only.
std::vector<double> sample_metric(const BoundedMetric& metric, const ListShape& shape, int64_t samples, int64_t seed);

/// F~ for all shapes (null for degenerate ones) from sampled distributions: made in parallel, kept per process up to a
/// limit of bytes, the least recently used going first.
std::vector<std::shared_ptr<const SmoothCdf>> sampled_cdfs(const BoundedMetric& metric,
                                                           const std::vector<ListShape>& shapes, int64_t samples,
                                                           int64_t seed, Smoothing how);

}  // namespace mr
