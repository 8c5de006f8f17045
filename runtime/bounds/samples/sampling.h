// Values of metrics for random rankings of one list shape. The rankings depend on (seed, n, p, sample) only, so metrics
// with the same seed see the same rankings, whether they are drawn together or separately.
#pragma once

#include <string>
#include <vector>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/increments.h"

namespace mr {

/// The inputs from which the values of one metric are computed.
class MetricSampling {
 public:
  /// Throws unless `samples` is 1 to 100 million.
  MetricSampling(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed);

  /// Returns a key that is equal if the values are equal: SHA-256 of all inputs, in hexadecimal digits.
  std::string key() const;
  /// Returns a key that is equal if the drawn rankings are equal.
  std::string rankings_key() const;
  /// Returns true if both metrics can be computed from the same drawn rankings.
  bool goes_with(const MetricSampling& other) const;
  int64_t rows() const { return samples_ * shape_.n; }
  std::vector<double> draw(Device device) const;
  /// Returns true if `found`, read from a file, can be a result of `draw`: it has the right number of values with their
  /// mean and standard deviation, and the first few hundred values, drawn again, are in it with the same distribution.
  bool drew(const Distribution& found) const;

  /// Returns the values of each metric from rankings that are drawn once, with the bits of `draw`. All metrics must be
  /// computable from the rankings of the first.
  static std::vector<std::vector<double>> draw_together(const std::vector<MetricSampling>& samplings);

 private:
  RankingSampler sampler() const;
  void scale(std::vector<double>& values) const;

  ListShape shape_;
  int64_t samples_;
  RandomKey random_;
  Increments increments_;
};

std::vector<double> sample_metric(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed,
                                  Device device = Device::cpu);

}  // namespace mr
