#include "runtime/bounds/smooth_cdf.h"

#include <cmath>
#include <cstdio>
#include <stdexcept>

#include "runtime/lua/failure.h"

namespace mr {
namespace {

/// Up to this number of values, a smoothed distribution function is computed as a sum over the values. Beyond it, a
/// Fourier series or a table is faster.
constexpr size_t most_summed = 2048;
/// If a metric's values cannot be listed, its distribution function is approximated by a smoothed one with kappa =
/// steepness * standard deviation = 1000.
constexpr double fine_kappa = 1000;
/// Largest steepness times range with which a distribution function is approximated if rankings have sampling weights.
/// If nearly all rankings have the same value, a steeper Fourier series would not converge.
constexpr double most_fine = 6e4;

}  // namespace

bool is_exact(const Metric& metric, const ListShape& shape, Method method) {
  if (method == Method::sampled) return false;
  if (has_spectrum(metric, shape) || has_atoms(metric, shape)) return true;
  if (method == Method::automatic) return false;
  throw ArgumentError("method", "'exact' is not feasible for " + metric.name + " of " + std::to_string(shape.n) +
                                    " rows with so many grades. Use 'auto' or 'sampled'");
}

double Smoothing::steepness(double sd, double range) const {
  const double a = kind == by_steepness ? amount : amount / sd;
  if (range <= 0 || (a * range >= 1e-9 && a * range <= 1e150)) return a;
  char text[160];
  std::snprintf(
      text, sizeof text,
      "%g gives the steepness %g for values with the range %g, expected a product of the two from 1e-9 to 1e150",
      amount, a, range);
  throw ArgumentError(kind == by_steepness ? "steepness" : "kappa", text);
}

std::vector<MetricSampling> samplings_of(const std::vector<Metric>& metrics, const ListShape& shape,
                                         const Finding& finding) {
  std::vector<MetricSampling> out;
  for (const Metric& metric : metrics) out.emplace_back(metric, shape, finding.samples, finding.seed);
  return out;
}

RankingDistribution::RankingDistribution(const Metric& metric, const ListShape& shape, const Finding& finding)
    : method_("sampled") {
  if (!is_exact(metric, shape, finding.method)) {
    listed_ = sampled_distribution({metric, shape, finding.samples, finding.seed},
                                   samplings_of(finding.also, shape, finding), finding.device, Busy::wait);
    check_spread(metric, shape, listed_->sd());
    return;
  }
  const bool listable = has_atoms(metric, shape);
  method_ = listable ? "enumerated" : "characteristic function";
  exact_ = Exact{metric, shape, bound_stats(metric, shape, false), moments_of(metric, shape)};
  check_spread(metric, shape, exact_->moments.sd);
  if (listable) listed_ = std::make_shared<const Distribution>(atoms_of(metric, shape));
}

double RankingDistribution::min() const { return exact_ ? exact_->stats.min : listed_->min(); }
double RankingDistribution::max() const { return exact_ ? exact_->stats.max : listed_->max(); }
double RankingDistribution::mean() const { return exact_ ? exact_->moments.mean : listed_->mean(); }
double RankingDistribution::sd() const { return exact_ ? exact_->moments.sd : listed_->sd(); }

const Spectrum& RankingDistribution::fine() const {
  const std::lock_guard lock(mutex_);
  const double steepest = exact_->shape.beta == 0 ? fine_kappa / sd() : most_fine / (max() - min());
  if (!fine_) fine_.emplace(exact_->metric, exact_->shape, std::min(fine_kappa / sd(), steepest));
  return *fine_;
}

double RankingDistribution::cdf(double s) const {
  if (listed_) return listed_->cdf(s);
  if (s < min()) return 0;
  return s >= max() ? 1 : std::clamp(fine().at(s).value, 0.0, 1.0);
}

double RankingDistribution::quantile(double q) const {
  if (listed_) return listed_->quantile(q);
  if (!(q >= 0 && q <= 1)) throw ArgumentError("q", number_text(q) + ", expected 0 to 1");
  return std::clamp(fine().quantile(q), min(), max());
}

const Distribution& RankingDistribution::listed() const {
  if (listed_) return *listed_;
  throw std::runtime_error("cannot list the values of " + exact_->metric.name +
                           ": there are too many. Use cdf or quantile, or make the distribution with the method " +
                           "'sampled', which lists some");
}

double RankingDistribution::steepness(const Smoothing& how) const {
  return how.kind == Smoothing::by_samples ? listed().sample_steepness() : how.steepness(sd(), max() - min());
}

std::vector<Smoothed> RankingDistribution::smooth(const std::vector<double>& s, const Smoothing& how) const {
  std::vector<Smoothed> out;
  const bool summed = listed_ && (how.kind == Smoothing::by_samples || listed_->values().size() <= most_summed);
  if (summed) {
    const double a = steepness(how);
    for (const double x : s) out.push_back(listed_->smooth(x, a));
  } else if (exact_ && has_spectrum(exact_->metric, exact_->shape)) {
    const Spectrum spectrum(exact_->metric, exact_->shape, steepness(how));
    for (const double x : s) out.push_back(spectrum.at(x));
  } else {
    const auto read = table(how);
    for (const double x : s) out.push_back(read->at(x));
  }
  return out;
}

std::shared_ptr<const LogitTable> RankingDistribution::table(const Smoothing& how) const {
  const double a = steepness(how);
  {
    const std::lock_guard lock(mutex_);
    const auto found = tables_.find(a);
    if (found != tables_.end()) return found->second;
  }
  // Uses the Fourier series wherever bounds use it, even if there are so few values that they could be summed. Bounds
  // and this table then agree.
  const bool series = how.kind != Smoothing::by_samples && exact_ && has_spectrum(exact_->metric, exact_->shape);
  auto made = series ? std::make_shared<const LogitTable>(Spectrum(exact_->metric, exact_->shape, a))
                     : std::make_shared<const LogitTable>(listed().table(a));
  const std::lock_guard lock(mutex_);
  return tables_[a] = std::move(made);
}

}  // namespace mr
