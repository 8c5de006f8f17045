// Values of metrics for random rankings of one list shape. The random numbers depend only on the seed, the list's
// number of rows and of relevant rows, and the number of the sample. So metrics with the same seed see the same
// rankings, whether they are drawn together or separately.
#pragma once

#include <string>
#include <vector>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/increments.h"

namespace mr {

/// Describes samples of one metric by all that their values depend on: the list shape, the number of samples, the
/// random seed and the terms of the metric.
class MetricSampling {
 public:
  /// Throws if `samples` is not from 1 to 100 million.
  MetricSampling(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed);

  /// Returns a key of the sampled values: the SHA-256, in hexadecimal digits, of everything that they depend on.
  std::string key() const;
  /// Returns a key of the random rankings. Metrics with the same key can be computed from the same rankings.
  std::string rankings_key() const;
  /// Returns true if both metrics can be computed from the same drawn rankings by `draw_together`.
  bool goes_with(const MetricSampling& other) const;
  int64_t rows() const { return samples_ * shape_.n; }
  std::vector<double> draw(Device device) const;
  /// Returns true if the distribution `found`, which was read from a file, can be a result of `draw`. Its number of
  /// values, mean and standard deviation must be right. The first 512 values are drawn again; they must be among its
  /// values and have nearly the same distribution.
  bool drew(const Distribution& found) const;

  /// Returns the sampled values of several metrics from rankings that are drawn once. They have the same bits as those
  /// of `draw`. goes_with must be true for the first metric and each other one.
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
