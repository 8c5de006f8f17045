#include "runtime/ops/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace mr {
namespace {

/// Beyond this many gains a sigmoid is 0 or 1 to double precision.
constexpr double reach = 37;
constexpr size_t most_bins = 4096;

double sigmoid_of(double t) { return t >= 0 ? 1 / (1 + std::exp(-t)) : std::exp(t) / (1 + std::exp(t)); }

}  // namespace

Distribution::Distribution(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("a distribution needs at least one value");
  if (values.size() > std::numeric_limits<uint32_t>::max()) throw std::length_error("too many values");
  std::sort(values.begin(), values.end());
  total_ = static_cast<double>(values.size());
  for (const double x : values) mean_ += x / total_;
  double square = 0;
  for (const double x : values) square += (x - mean_) * (x - mean_) / total_;
  sd_ = std::sqrt(square);
  std::vector<size_t> starts;
  for (size_t i = 0; i < values.size(); ++i) {
    const double x = values[i];
    if (i == 0 || x - values[starts.back()] > 1e-12 * std::max(1.0, std::fabs(x))) starts.push_back(i);
  }
  values_.reserve(starts.size());
  for (const size_t i : starts) values_.push_back(values[i]);
  if (starts.size() == values.size()) return;
  before_.reserve(starts.size() + 1);
  before_.assign(starts.begin(), starts.end());
  before_.push_back(static_cast<uint32_t>(values.size()));
}

int64_t Distribution::bytes() const {
  return static_cast<int64_t>(values_.capacity() * sizeof(double) + before_.capacity() * sizeof(uint32_t));
}

double Distribution::cdf(double s) const {
  return below(static_cast<size_t>(std::upper_bound(values_.begin(), values_.end(), s) - values_.begin()));
}

double Distribution::quantile(double q) const {
  if (!(q >= 0 && q <= 1)) throw ArgumentError("q", std::to_string(q) + ", expected 0 to 1");
  size_t low = 0, high = values_.size() - 1;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (below(middle + 1) >= q - 1e-15) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return values_[low];
}

Smoothed Distribution::smooth_by_samples(double s) const {
  if (values_.size() == 1) return {0.5, 0};
  const double gain = sample_gain();
  const auto first = std::lower_bound(values_.begin(), values_.end(), s - reach / gain) - values_.begin();
  Smoothed out{below(static_cast<size_t>(first)), 0};
  for (auto i = static_cast<size_t>(first); i < values_.size() && values_[i] <= s + reach / gain; ++i) {
    const double sigma = sigmoid_of(gain * (s - values_[i])), weight = probability(i);
    out.value += weight * sigma;
    out.derivative += weight * gain * sigma * (1 - sigma);
  }
  return out;
}

/// Many values go into bins of equal width, each at the mean of what is in it: an error of second order in width *
/// gain.
LogitTable Distribution::table(double kappa) const {
  std::vector<double> at, weights;
  if (values_.size() <= most_bins) {
    for (size_t i = 0; i < values_.size(); ++i) weights.push_back(probability(i));
    return {values_, weights, kappa / sd_};
  }
  const double width = (max() - min()) / static_cast<double>(most_bins);
  size_t bin = most_bins;
  for (size_t i = 0; i < values_.size(); ++i) {
    const size_t own = std::min(most_bins - 1, static_cast<size_t>((values_[i] - min()) / width));
    if (own != bin) {
      at.push_back(0);
      weights.push_back(0);
      bin = own;
    }
    at.back() += probability(i) * values_[i];
    weights.back() += probability(i);
  }
  for (size_t b = 0; b < at.size(); ++b) at[b] /= weights[b];
  return {at, weights, kappa / sd_};
}

SmoothCdf::SmoothCdf(Distribution distribution, Smoothing how) : form_(std::move(distribution)) {
  if (!how.by_samples) form_ = std::get<Distribution>(form_).table(how.kappa);
}

Smoothed SmoothCdf::at(double s) const {
  const auto* table = std::get_if<LogitTable>(&form_);
  return table != nullptr ? table->at(s) : std::get<Distribution>(form_).smooth_by_samples(s);
}

int64_t SmoothCdf::bytes() const {
  return std::visit([](const auto& form) { return form.bytes() + static_cast<int64_t>(sizeof form); }, form_);
}

}  // namespace mr
