// Values of metrics for random rankings of one shape of list. They depend on (seed, n, p, sample) only, whatever the
// metric: metrics of the same seed see the same rankings, drawn together or not.
#pragma once

#include <string>
#include <vector>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/increments.h"

namespace mr {

/// The inputs from which the values of one metric are computed.
class MetricSampling {
 public:
  /// Throws where `samples` is not 1 to 100 million.
  MetricSampling(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed);

  /// Equal where the values are: SHA-256 in hexadecimal digits of everything here.
  std::string key() const;
  /// Equal where the rankings are.
  std::string rankings_key() const;
  /// True if both metrics can be computed from the same drawn rankings.
  bool goes_with(const MetricSampling& other) const;
  /// Rows to be drawn in all.
  int64_t rows() const { return samples_ * shape_.n; }
  std::vector<double> draw(Device device) const;
  /// True if `found`, read from a file, can be what `draw` gives: it has as many values, with their mean and standard
  /// deviation; the first few hundred, drawn again, are among them and distributed like them.
  bool drew(const Distribution& found) const;

  /// Values of each, from rankings that are drawn once; all go with the first. The same bits as `draw`.
  static std::vector<std::vector<double>> draw_together(const std::vector<MetricSampling>& samplings);

 private:
  RankingSampler sampler() const;
  void scale(std::vector<double>& values) const;

  ListShape shape_;
  int64_t samples_;
  RandomKey random_;
  Increments increments_;
};

/// `samples` values of the metric, drawn on `device`.
std::vector<double> sample_metric(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed,
                                  Device device = Device::cpu);

}  // namespace mr
