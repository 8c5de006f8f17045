// Distribution-based bounding (Westerborg 2022, Eq. 3.12) and distributions as scripts see them.
#include <algorithm>

#include "runtime/autograd/node.h"
#include "runtime/ops/check.h"
#include "runtime/ops/distribution.h"

namespace mr {
namespace {
using Sampled = std::shared_ptr<const Distribution>;
}
template <>
inline constexpr const char* lua::class_name<Sampled> = "mr.Distribution";

namespace {

Smoothing to_smoothing(const std::string& gain, double kappa) {
  if (gain != "samples" && gain != "kappa")
    throw ArgumentError("gain", "'" + gain + "', expected 'samples' or 'kappa'");
  check::positive("kappa", kappa);
  return {gain == "samples", kappa};
}

/// F~(score) of every list under its own distribution; 0 without gradient for degenerate lists. Worked out on the host:
/// one number per list.
Tensor distribution_bound(const Tensor& score, const Lists& lists, const std::string& metric, int64_t samples,
                          int64_t seed, const std::string& gain, double kappa) {
  check::per_list("score", score, lists);
  const BoundedMetric what = to_bounded_metric(metric);
  const Smoothing how = to_smoothing(gain, kappa);
  const auto cdfs = sampled_cdfs(what, list_shapes(lists, what), samples, seed, how);
  const auto s = score.to(Dtype::float64).to_vector<double>();
  std::vector<double> value(s.size(), 0.0), derivative(s.size(), 0.0);
  for (size_t l = 0; l < s.size(); ++l) {
    if (cdfs[l] == nullptr) continue;
    const Smoothed smoothed = cdfs[l]->at(s[l]);
    value[l] = smoothed.value;
    derivative[l] = smoothed.derivative;
  }
  const auto tensor = [&](const std::vector<double>& v) {
    return Tensor::from(v).to(score.dtype()).to(score.device());
  };
  return record("distribution_bound", tensor(value), {score}, [derivative](const Tensor& g) -> Gradients {
    auto upstream = g.to(Dtype::float64).to_vector<double>();
    for (size_t l = 0; l < upstream.size(); ++l) upstream[l] *= derivative[l];
    return {Tensor::from(upstream).to(g.dtype()).to(g.device())};
  });
}

Sampled sampled_distribution(const std::string& metric, std::optional<int64_t> n, std::optional<int64_t> p,
                             const std::vector<double>& grades, int64_t samples, int64_t seed) {
  const BoundedMetric what = to_bounded_metric(metric);
  const ListShape shape = shape_of(what, n, p, grades);
  if (shape.p == 0) throw ArgumentError("p", "0: without a relevant row there is no distribution");
  return std::make_shared<const Distribution>(sample_metric(what, shape, samples, seed));
}

Sampled distribution_of(const Tensor& values) {
  return std::make_shared<const Distribution>(values.to(Dtype::float64).to_vector<double>());
}

double cdf_of(const Sampled& d, double s) { return d->cdf(s); }
double quantile_of(const Sampled& d, double q) { return d->quantile(q); }
double mean_of(const Sampled& d) { return d->mean(); }
double sd_of(const Sampled& d) { return d->sd(); }
double min_of(const Sampled& d) { return d->min(); }
double max_of(const Sampled& d) { return d->max(); }
double sample_gain_of(const Sampled& d) { return d->sample_gain(); }
int64_t value_count(const Sampled& d) { return static_cast<int64_t>(d->values().size()); }

std::tuple<Tensor, Tensor> pmf_of(const Sampled& d) {
  std::vector<double> probability;
  for (size_t i = 0; i < d->values().size(); ++i) probability.push_back(d->probability(i));
  return {Tensor::from(d->values()), Tensor::from(probability)};
}

/// F~ and its derivative at every entry of s.
std::tuple<Tensor, Tensor> smooth_of(const Sampled& d, const Tensor& s, const std::string& gain, double kappa) {
  const Smoothing how = to_smoothing(gain, kappa);
  const SmoothCdf cdf(*d, how);
  std::vector<double> value, derivative;
  for (const double x : s.to(Dtype::float64).to_vector<double>()) {
    const Smoothed smoothed = cdf.at(x);
    value.push_back(smoothed.value);
    derivative.push_back(smoothed.derivative);
  }
  return {Tensor::from(value).viewed(s.shape()), Tensor::from(derivative).viewed(s.shape())};
}

std::string text_of(const Sampled& d) {
  char text[160];
  std::snprintf(text, sizeof text, "mr.Distribution: %zu values from %.6g to %.6g, mean %.6g, sd %.6g",
                d->values().size(), d->min(), d->max(), d->mean(), d->sd());
  return text;
}

}  // namespace

using lua::op;
extern const lua::OpTable distribution_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&distribution_bound>("distribution_bound", "score, lists, metric, samples, seed, gain, kappa",
                                "F~ of the score of every list."),
        op<&sampled_distribution>("sampled_distribution", "metric, n, p, grades, samples, seed",
                                  "Values of a metric for random rankings."),
        op<&distribution_of>("distribution_of", "values", "The distribution of values that are equally likely."),
        op<&smooth_of>("distribution_smooth", "distribution, s, gain, kappa",
                       "F~ and its derivative at every entry of s."),
    }};
extern const lua::OpTable distribution_methods{
    lua::OpTable::methods,
    &lua::push_metatable<Sampled>,
    {
        op<&cdf_of>("cdf", "self, s", "Probability of at most s."),
        op<&quantile_of>("quantile", "self, q", "The least value with cdf of at least q."),
        op<&mean_of>("mean", "self", "Mean."),
        op<&sd_of>("sd", "self", "Standard deviation."),
        op<&min_of>("min", "self", "Least value."),
        op<&max_of>("max", "self", "Largest value."),
        op<&sample_gain_of>("sample_gain", "self", "Distinct values over range (Eq. 3.13)."),
        op<&pmf_of>("pmf", "self", "Distinct values and their probabilities."),
    }};
extern const lua::OpTable distribution_operators{lua::OpTable::metamethods,
                                                 &lua::push_metatable<Sampled>,
                                                 {
                                                     op<&value_count>("__len", "self", "Number of distinct values."),
                                                     op<&text_of>("__tostring", "self", "Range, mean and sd."),
                                                 }};

}  // namespace mr
