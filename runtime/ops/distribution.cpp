#include "runtime/ops/distribution.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace mr {
namespace {

/// Beyond this many gains a sigmoid is 0 or 1 to double precision.
constexpr double reach = 37;
constexpr int64_t knots = 512;
constexpr size_t most_bins = 4096;

double sigmoid_of(double t) { return t >= 0 ? 1 / (1 + std::exp(-t)) : std::exp(t) / (1 + std::exp(t)); }

/// Values with weights, at most `most_bins`: bins of equal width stand at the mean of what is in them.
struct Bins {
  std::vector<double> at, weight;
};

}  // namespace

Distribution::Distribution(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("a distribution needs at least one value");
  std::sort(values.begin(), values.end());
  const auto total = static_cast<double>(values.size());
  for (const double x : values) mean_ += x / total;
  double square = 0;
  for (const double x : values) square += (x - mean_) * (x - mean_) / total;
  sd_ = std::sqrt(square);
  std::vector<double> starts;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values_.empty() || values[i] - values_.back() > 1e-12 * std::max(1.0, std::fabs(values[i]))) {
      values_.push_back(values[i]);
      starts.push_back(static_cast<double>(i) / total);
    }
  }
  values_.shrink_to_fit();
  if (values_.size() == values.size()) return;
  starts.push_back(1);
  counts_ = std::move(starts);
}

int64_t Distribution::bytes() const {
  return static_cast<int64_t>(
      (values_.capacity() + counts_.capacity() + table_.logit.capacity() + table_.slope.capacity()) * sizeof(double));
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

Smoothed Distribution::by_samples(double s) const {
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

Distribution::Table Distribution::make_table(double kappa) const {
  Bins bins;
  if (values_.size() <= most_bins) {
    bins.at = values_;
    for (size_t i = 0; i < values_.size(); ++i) bins.weight.push_back(probability(i));
  } else {
    const double width = (max() - min()) / static_cast<double>(most_bins);
    bins.at.assign(most_bins, 0.0);
    bins.weight.assign(most_bins, 0.0);
    for (size_t i = 0; i < values_.size(); ++i) {
      const size_t bin = std::min(most_bins - 1, static_cast<size_t>((values_[i] - min()) / width));
      bins.at[bin] += probability(i) * values_[i];
      bins.weight[bin] += probability(i);
    }
    for (size_t b = 0; b < most_bins; ++b) bins.at[b] /= bins.weight[b] > 0 ? bins.weight[b] : 1;
  }
  Table table;
  table.kappa = kappa;
  table.gain = kappa / sd_;
  table.first = min() - 8 / table.gain;
  table.step = (max() - min() + 16 / table.gain) / static_cast<double>(knots - 1);
  for (int64_t k = 0; k < knots; ++k) {
    const double s = table.first + static_cast<double>(k) * table.step;
    double lower = 0, upper = 0, density = 0;
    for (size_t b = 0; b < bins.at.size(); ++b) {
      if (bins.weight[b] == 0) continue;
      const double t = table.gain * (s - bins.at[b]), e = std::exp(-std::fabs(t)), small = e / (1 + e),
                   large = 1 / (1 + e);
      lower += bins.weight[b] * (t >= 0 ? large : small);
      upper += bins.weight[b] * (t >= 0 ? small : large);
      density += bins.weight[b] * small * large;
    }
    table.logit.push_back(std::log(lower) - std::log(upper));
    table.slope.push_back(table.gain * density / (lower * upper));
  }
  return table;
}

void Distribution::prepare(Smoothing how) {
  if (!how.by_samples && values_.size() > 1 && table_.kappa != how.kappa) table_ = make_table(how.kappa);
}

/// Cubic Hermite interpolation of the logit; beyond the knots it goes on as a line.
Smoothed Distribution::read(const Table& table, double s) {
  const double at = (s - table.first) / table.step;
  const auto last = static_cast<double>(table.logit.size() - 1);
  double logit = 0, slope = 0;
  if (at <= 0 || at >= last) {
    const size_t end = at <= 0 ? 0 : table.logit.size() - 1;
    slope = table.slope[end];
    logit = table.logit[end] + slope * (s - table.first - static_cast<double>(end) * table.step);
  } else {
    const auto k = static_cast<size_t>(at);
    const double u = at - static_cast<double>(k), h = table.step;
    const double g0 = table.logit[k], g1 = table.logit[k + 1], m0 = h * table.slope[k], m1 = h * table.slope[k + 1];
    logit = g0 + u * (m0 + u * (3 * (g1 - g0) - 2 * m0 - m1 + u * (2 * (g0 - g1) + m0 + m1)));
    slope = (m0 + u * (2 * (3 * (g1 - g0) - 2 * m0 - m1) + u * 3 * (2 * (g0 - g1) + m0 + m1))) / h;
  }
  const double value = sigmoid_of(logit);
  return {value, slope * value * sigmoid_of(-logit)};
}

Smoothed Distribution::smooth(double s, Smoothing how) const {
  if (values_.size() == 1) return {0.5, 0};
  if (how.by_samples) return by_samples(s);
  return table_.kappa == how.kappa ? read(table_, s) : read(make_table(how.kappa), s);
}

}  // namespace mr
