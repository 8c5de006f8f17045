// Smoothed distribution functions of metrics over random rankings, for bounds and scripts: exact or from samples, made
// once per shape of list.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/moments.h"
#include "runtime/bounds/sample_store.h"

namespace mr {

enum class Method : int8_t { exact, sampled, automatic };

/// True if the distribution of this shape is computed exactly, false if it is sampled. Every choice between the two is
/// made here. Throws if `method` is exact and no exact computation is feasible.
bool is_exact(const Metric& metric, const ListShape& shape, Method method);

/// The steepness a of F~: kappa / sd; a itself; or (number of distinct values) / (max - min), Eq. 3.13.
struct Smoothing {
  enum Kind : int8_t { by_kappa, by_gain, by_samples } kind = by_kappa;
  double amount = 8;

  /// a by kappa or as given, for a distribution of this standard deviation and range. Throws where a is so small that
  /// F~ is 1/2 throughout, or so large that sums overflow.
  double gain(double sd, double range) const;
};

/// How a distribution is computed. `automatic`: exactly where that is feasible, else from samples.
struct Finding {
  Method method = Method::automatic;
  int64_t samples = 300'000, seed = 1;
  Device device = Device::cpu;    // that draws the samples
  std::vector<Metric> also = {};  // whose samples are wanted too: of the same rankings, where these are drawn
};
/// As MetricSampling draws them.
std::vector<MetricSampling> samplings_of(const std::vector<Metric>& metrics, const ListShape& shape,
                                         const Finding& finding);

/// The distribution of a metric over random rankings of one shape, or of given values.
class RankingDistribution {
 public:
  RankingDistribution(const Metric& metric, const ListShape& shape, const Finding& finding);
  /// `method` says how they were computed.
  RankingDistribution(std::shared_ptr<const Distribution> values, const char* method)
      : method_(method), listed_(std::move(values)) {}

  /// "values", "sampled", "enumerated" or "characteristic function".
  const char* method() const { return method_; }
  double min() const;
  double max() const;
  double mean() const;
  double sd() const;
  /// Where it cannot be listed: of the metric smoothed by a thousandth of its deviation.
  double cdf(double s) const;
  double quantile(double q) const;
  /// All values with their probabilities; throws where they cannot be listed.
  const Distribution& listed() const;
  std::vector<Smoothed> smooth(const std::vector<double>& s, const Smoothing& how) const;
  /// F~ as a table, made once per gain.
  std::shared_ptr<const LogitTable> table(const Smoothing& how) const;
  double gain(const Smoothing& how) const;

 private:
  struct Exact {
    Metric metric;
    ListShape shape;
    BoundStats stats;
    Moments moments;
  };
  const Spectrum& fine() const;

  const char* method_;
  std::optional<Exact> exact_;
  std::shared_ptr<const Distribution> listed_;
  mutable std::mutex mutex_;
  mutable std::optional<Spectrum> fine_;
  mutable std::map<double, std::shared_ptr<const LogitTable>> tables_;
};

/// F~ of one shape in the smaller of its forms: the values where Eq. 3.13 needs them, else a table.
using SmoothCdf = std::variant<std::shared_ptr<const Distribution>, std::shared_ptr<const LogitTable>>;

/// F~ for all shapes (no value for degenerate ones): made in parallel, kept per process up to a limit of bytes, the
/// least recently used going first; characteristic functions on `device`. Throws where a method cannot do a shape.
std::vector<std::optional<SmoothCdf>> smooth_cdfs(const Metric& metric, const std::vector<ListShape>& shapes,
                                                  const Finding& finding, const Smoothing& how,
                                                  Device device = Device::cpu);

}  // namespace mr
