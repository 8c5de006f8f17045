#include "runtime/bounds/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

namespace mr {
namespace {

/// Beyond this many gains a sigmoid is 0 or 1 to double precision.
constexpr double reach = 37;
constexpr size_t most_bins = 4096;

bool one_value(double x, double y) { return y - x <= 1e-12 * std::max(1.0, std::fabs(y)); }

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
    if (i == 0 || !one_value(values[starts.back()], x)) starts.push_back(i);
  }
  values_.reserve(starts.size());
  for (const size_t i : starts) values_.push_back(values[i]);
  if (starts.size() == values.size()) return;
  before_.reserve(starts.size() + 1);
  before_.assign(starts.begin(), starts.end());
  before_.push_back(static_cast<uint32_t>(values.size()));
}

Distribution::Distribution(const Atoms& atoms) {
  if (atoms.values.empty()) throw std::invalid_argument("a distribution needs at least one value");
  std::vector<size_t> order(atoms.values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return atoms.values[a] < atoms.values[b]; });
  for (const size_t i : order) {
    if (values_.empty() || !one_value(values_.back(), atoms.values[i])) {
      values_.push_back(atoms.values[i]);
      weights_.push_back(0);
    }
    weights_.back() += atoms.weights[i];
  }
  below_.push_back(0);
  for (size_t i = 0; i < values_.size(); ++i) {
    below_.push_back(below_.back() + weights_[i]);
    mean_ += values_[i] * weights_[i];
  }
  double square = 0;
  for (size_t i = 0; i < values_.size(); ++i) square += (values_[i] - mean_) * (values_[i] - mean_) * weights_[i];
  sd_ = std::sqrt(square);
}

double Distribution::below(size_t i) const {
  if (!below_.empty()) return std::min(1.0, below_[i]);
  return static_cast<double>(before_.empty() ? i : before_[i]) / total_;
}

int64_t Distribution::bytes() const {
  return static_cast<int64_t>((values_.capacity() + weights_.capacity() + below_.capacity()) * sizeof(double) +
                              before_.capacity() * sizeof(uint32_t));
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

Smoothed Distribution::smooth(double s, double gain) const {
  if (values_.size() == 1) return {0.5, 0};
  const auto first = std::lower_bound(values_.begin(), values_.end(), s - reach / gain) - values_.begin();
  Smoothed out{below(static_cast<size_t>(first)), 0};
  for (auto i = static_cast<size_t>(first); i < values_.size() && values_[i] <= s + reach / gain; ++i) {
    const double sigma = logistic(gain * (s - values_[i])), weight = probability(i);
    out.value += weight * sigma;
    out.derivative += weight * gain * sigma * logistic(-gain * (s - values_[i]));
  }
  return out;
}

/// Many values are put into bins of equal width, each at the mean of its values: an error of second order in width *
/// gain.
LogitTable Distribution::table(double gain) const {
  std::vector<double> at, weights;
  if (values_.size() <= most_bins) {
    for (size_t i = 0; i < values_.size(); ++i) weights.push_back(probability(i));
    return {values_, weights, gain};
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
  return {at, weights, gain};
}

}  // namespace mr
