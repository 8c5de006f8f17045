// Smoothed distribution functions of metrics over random rankings, for bounds and scripts. They are exact or from
// samples. They are computed once per list shape: its numbers of rows and of relevant rows, or its grades.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <variant>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/moments.h"
#include "runtime/bounds/samples/sample_store.h"

namespace mr {

enum class Method : int8_t { exact, sampled, automatic };

/// Returns true if the distribution of a metric over random rankings of this list shape is computed exactly, and false
/// if it is sampled. All code asks this function. Throws if `method` is exact and no exact computation is feasible.
bool is_exact(const Metric& metric, const ListShape& shape, Method method);

/// How the steepness a of the smoothed distribution function F~ is chosen: a = kappa / standard deviation (by_kappa), a
/// given (by_steepness), or a = (number of distinct values) / (max - min) by Westerborg 2022, Eq. 3.13 (by_samples).
struct Smoothing {
  enum Kind : int8_t { by_kappa, by_steepness, by_samples } kind = by_kappa;
  double amount = 8;

  /// Returns the steepness a of the smoothed distribution function F~, from the standard deviation and range of the
  /// metric. Throws if a is so small that F~ is 1/2 everywhere, or so large that sums overflow.
  double steepness(double sd, double range) const;
};

/// How a distribution over random rankings is computed. The method `automatic` is exact if that is feasible, and
/// sampled otherwise.
struct Finding {
  Method method = Method::automatic;
  int64_t samples = 300'000, seed = 1;
  Device device = Device::cpu;  // device that draws the samples
  // other metrics whose samples are needed too; all are computed from the same drawn rankings
  std::vector<Metric> also = {};
};
std::vector<MetricSampling> samplings_of(const std::vector<Metric>& metrics, const ListShape& shape,
                                         const Finding& finding);

/// The distribution of a metric over random rankings of one list shape, or the distribution of values that a script
/// passes.
class RankingDistribution {
 public:
  RankingDistribution(const Metric& metric, const ListShape& shape, const Finding& finding);
  /// Makes a distribution of given values. `method`, which `method()` returns, says how the values were found.
  RankingDistribution(std::shared_ptr<const Distribution> values, const char* method)
      : method_(method), listed_(std::move(values)) {}

  /// Returns how the distribution was found: "values", "sampled", "enumerated" or "characteristic function".
  const char* method() const { return method_; }
  double min() const;
  double max() const;
  double mean() const;
  double sd() const;
  /// Returns the probability that the metric is at most s. If its values cannot be listed, the distribution function is
  /// a smoothed one: sigmoids with the width of a thousandth of the standard deviation, or wider if rankings have
  /// sampling weights.
  double cdf(double s) const;
  double quantile(double q) const;
  /// Returns all values of the metric with their probabilities. Throws if there are too many to list.
  const Distribution& listed() const;
  std::vector<Smoothed> smooth(const std::vector<double>& s, const Smoothing& how) const;
  /// Returns a table of F~, the smoothed distribution function. It is computed once per steepness.
  std::shared_ptr<const LogitTable> table(const Smoothing& how) const;
  double steepness(const Smoothing& how) const;

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

/// F~, the smoothed distribution function of one list shape. It is a list of values if the steepness depends on their
/// number (Westerborg 2022, Eq. 3.13), else a table, which is smaller.
using SmoothCdf = std::variant<std::shared_ptr<const Distribution>, std::shared_ptr<const LogitTable>>;

/// Returns F~, the smoothed distribution function of a metric, for each list shape (numbers of rows and of relevant
/// rows, or grades). Degenerate shapes (all rankings have the same value) get no value. Shapes are computed in parallel
/// and cached per process; characteristic functions run on `device`. Throws if the wanted method is not feasible for a
/// shape.
std::vector<std::optional<SmoothCdf>> smooth_cdfs(const Metric& metric, const std::vector<ListShape>& shapes,
                                                  const Finding& finding, const Smoothing& how,
                                                  Device device = Device::cpu);

}  // namespace mr
