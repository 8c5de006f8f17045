#include "runtime/bounds/ranking_distribution.h"

#include <cmath>

#include "runtime/ops/argument_checks.h"

namespace mr {

Smoothing to_smoothing(const std::string& steepness, double amount) {
  if (steepness != "samples" && steepness != "kappa" && steepness != "gain")
    throw ArgumentError("steepness", "'" + steepness + "', expected 'kappa', 'samples' or a number");
  check::positive(steepness == "gain" ? "steepness" : "kappa", amount);
  return {steepness == "samples" ? Smoothing::by_samples
          : steepness == "gain"  ? Smoothing::by_steepness
                                 : Smoothing::by_kappa,
          amount};
}

Finding to_finding(const std::string& method, int64_t samples, int64_t seed) {
  if (method == "exact") return {Method::exact, samples, seed};
  if (method == "sampled") return {Method::sampled, samples, seed};
  if (method == "auto") return {Method::automatic, samples, seed};
  throw ArgumentError("method", "'" + method + "', expected 'exact', 'sampled' or 'auto'");
}

namespace {

SharedDistribution distribution(const Metric& metric, std::optional<int64_t> n, std::optional<int64_t> p,
                                const std::vector<double>& grades, const std::string& method, int64_t samples,
                                int64_t seed, double beta) {
  check::finite("beta", beta);
  const ListShape shape = shape_of(metric, n, p, grades, beta);
  if (shape.p == 0) throw ArgumentError("p", "p is 0, expected at least 1 relevant row");
  return std::make_shared<const RankingDistribution>(metric, shape, to_finding(method, samples, seed));
}

/// Returns the distribution of equally likely values that a script passes. Their absolute values are limited, so that
/// mean and standard deviation are finite.
SharedDistribution distribution_of(const Tensor& values, std::optional<std::string> method) {
  const std::vector<double> numbers = values.to(Dtype::float64).to_vector<double>();
  constexpr double largest = 1e150;  // largest absolute value of an entry, so that squares of differences are finite
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (std::fabs(numbers[i]) <= largest) continue;
    throw ArgumentError("values", "entry " + std::to_string(i + 1) + " is " + number_text(numbers[i]) +
                                      ", expected an absolute value of at most " + number_text(largest));
  }
  const std::string how = method.value_or("values");
  for (const char* const known : {"values", "enumerated", "sampled"}) {
    if (how == known)
      return std::make_shared<const RankingDistribution>(std::make_shared<const Distribution>(numbers), known);
  }
  throw ArgumentError("method", "'" + how + "', expected 'values', 'enumerated' or 'sampled'");
}

double cdf_of(const SharedDistribution& d, double s) {
  if (std::isnan(s)) throw ArgumentError("s", "is NaN, expected a number");
  return d->cdf(s);
}
double quantile_of(const SharedDistribution& d, double q) { return d->quantile(q); }
double mean_of(const SharedDistribution& d) { return d->mean(); }
double sd_of(const SharedDistribution& d) { return d->sd(); }
double min_of(const SharedDistribution& d) { return d->min(); }
double max_of(const SharedDistribution& d) { return d->max(); }
std::string method_of(const SharedDistribution& d) { return d->method(); }
double sample_steepness_of(const SharedDistribution& d) { return d->listed().sample_steepness(); }
int64_t value_count(const SharedDistribution& d) { return static_cast<int64_t>(d->listed().values().size()); }

std::tuple<Tensor, Tensor> pmf_of(const SharedDistribution& d) {
  const Distribution& listed = d->listed();
  std::vector<double> probability;
  for (size_t i = 0; i < listed.values().size(); ++i) probability.push_back(listed.probability(i));
  return {Tensor::from(listed.values()), Tensor::from(probability)};
}

std::tuple<Tensor, Tensor> smooth_of(const SharedDistribution& d, const Tensor& s, const std::string& steepness,
                                     double amount) {
  check::not_nan("smooth", "s", s);
  std::vector<double> value, derivative;
  for (const Smoothed& at : d->smooth(s.to(Dtype::float64).to_vector<double>(), to_smoothing(steepness, amount))) {
    value.push_back(at.value);
    derivative.push_back(at.derivative);
  }
  return {Tensor::from(value).viewed(s.shape()), Tensor::from(derivative).viewed(s.shape())};
}

/// Like `smooth_of`, which returns the smoothed distribution function F~ and its derivative, but reads them from the
/// table that bounds use.
std::tuple<Tensor, Tensor> tabled_of(const SharedDistribution& d, const Tensor& s, const std::string& steepness,
                                     double amount) {
  check::not_nan("smooth", "s", s);
  const auto table = d->table(to_smoothing(steepness, amount));
  std::vector<double> value, derivative;
  for (const double x : s.to(Dtype::float64).to_vector<double>()) {
    value.push_back(table->at(x).value);
    derivative.push_back(table->at(x).derivative);
  }
  return {Tensor::from(value).viewed(s.shape()), Tensor::from(derivative).viewed(s.shape())};
}

std::string range_text(const SharedDistribution& d) {
  char text[200];
  std::snprintf(text, sizeof text, "mr.Distribution (%s): from %.6g to %.6g, mean %.6g, sd %.6g", d->method(), d->min(),
                d->max(), d->mean(), d->sd());
  return text;
}

}  // namespace

using lua::op;
extern const lua::OpTable distribution_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&distribution>("distribution", "metric, n, p, grades, method, samples, seed, beta",
                          "The distribution of a metric over random rankings."),
        op<&distribution_of>("distribution_of", "values, method?", "The distribution of equally likely values."),
        op<&smooth_of>("distribution_smooth", "distribution, s, steepness, amount",
                       "F~ and its derivative at every entry of s."),
        op<&tabled_of>("distribution_tabled", "distribution, s, steepness, amount",
                       "Like `distribution_smooth`, read from the table that bounds use."),
    }};
extern const lua::OpTable distribution_methods{
    lua::OpTable::methods,
    &lua::push_metatable<SharedDistribution>,
    {
        op<&cdf_of>("cdf", "self, s", "Probability of values <= s."),
        op<&quantile_of>("quantile", "self, q", "The smallest value with cdf >= q."),
        op<&mean_of>("mean", "self", "Mean."),
        op<&sd_of>("sd", "self", "Standard deviation."),
        op<&min_of>("min", "self", "Smallest value."),
        op<&max_of>("max", "self", "Largest value."),
        op<&method_of>("method", "self", "The method: enumerated, characteristic function, sampled or values."),
        op<&sample_steepness_of>("sample_gain", "self", "Number of distinct values divided by the range (Eq. 3.13)."),
        op<&pmf_of>("pmf", "self", "Distinct values and their probabilities."),
    }};
extern const lua::OpTable distribution_operators{lua::OpTable::metamethods,
                                                 &lua::push_metatable<SharedDistribution>,
                                                 {
                                                     op<&value_count>("__len", "self", "Number of distinct values."),
                                                     op<&range_text>("__tostring", "self", "Range, mean and sd."),
                                                 }};

}  // namespace mr
