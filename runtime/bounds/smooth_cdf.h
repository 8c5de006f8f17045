// Smoothed distribution functions of metrics over random rankings, for bounds and scripts: exact or from samples,
// computed once per list shape.
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

/// Returns true if the distribution of this list shape is computed exactly, false if it is sampled. Every choice
/// between the two is made here. Throws if `method` is exact and no exact computation is feasible.
bool is_exact(const Metric& metric, const ListShape& shape, Method method);

/// How the steepness a of F~ is given: kappa, with a = kappa / sd; a itself; or Eq. 3.13, (number of distinct values) /
/// (max - min).
struct Smoothing {
  enum Kind : int8_t { by_kappa, by_steepness, by_samples } kind = by_kappa;
  double amount = 8;

  /// Returns the steepness a for a distribution of this standard deviation and range. Throws if a is so small that F~
  /// is 1/2 everywhere, or so large that sums overflow.
  double steepness(double sd, double range) const;
};

/// How a distribution is computed. `automatic`: exactly if feasible, else from samples.
struct Finding {
  Method method = Method::automatic;
  int64_t samples = 300'000, seed = 1;
  Device device = Device::cpu;    // device that draws the samples
  std::vector<Metric> also = {};  // other metrics that need samples of the same rankings; all are drawn together
};
std::vector<MetricSampling> samplings_of(const std::vector<Metric>& metrics, const ListShape& shape,
                                         const Finding& finding);

/// The distribution of a metric over random rankings of one list shape, or the distribution of given values.
class RankingDistribution {
 public:
  RankingDistribution(const Metric& metric, const ListShape& shape, const Finding& finding);
  /// `method` is the text that `method()` returns and that says how the values were found.
  RankingDistribution(std::shared_ptr<const Distribution> values, const char* method)
      : method_(method), listed_(std::move(values)) {}

  /// Returns how the distribution was found: "values", "sampled", "enumerated" or "characteristic function".
  const char* method() const { return method_; }
  double min() const;
  double max() const;
  double mean() const;
  double sd() const;
  /// Returns the probability of values <= s. If the values cannot be listed, it is smoothed by a thousandth of the
  /// standard deviation.
  double cdf(double s) const;
  double quantile(double q) const;
  /// Returns all values with their probabilities. Throws if there are too many to list.
  const Distribution& listed() const;
  std::vector<Smoothed> smooth(const std::vector<double>& s, const Smoothing& how) const;
  /// Returns F~ as a table, computed once per steepness.
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

/// F~ of one list shape: as values if Eq. 3.13 needs them, else as a table, which is smaller.
using SmoothCdf = std::variant<std::shared_ptr<const Distribution>, std::shared_ptr<const LogitTable>>;

/// Returns F~ for all list shapes, without a value for degenerate ones. Computed in parallel, with an LRU cache per
/// process; characteristic functions run on `device`. Throws if a method is not possible for a shape.
std::vector<std::optional<SmoothCdf>> smooth_cdfs(const Metric& metric, const std::vector<ListShape>& shapes,
                                                  const Finding& finding, const Smoothing& how,
                                                  Device device = Device::cpu);

}  // namespace mr
