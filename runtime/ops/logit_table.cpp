#include "runtime/ops/logit_table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace mr {
namespace {

constexpr double reach = 40;   // beyond so many 1 / gain a sigmoid is 0 or 1 next to what is nearer
constexpr double margin = 8;   // the table ends so many 1 / gain outside the values, where the logit is a line
constexpr double density = 2;  // knots per 1 / gain ...
constexpr double fewest_knots = 512, most_knots = 4096;  // ... within these limits

double sigma(double t) { return t >= 0 ? 1 / (1 + std::exp(-t)) : std::exp(t) / (1 + std::exp(t)); }

/// logit F~ and its derivative, from F~ and 1 - F~ summed separately so that neither loses its digits where it is
/// small.
class Sums {
 public:
  Sums(const std::vector<double>& at, const std::vector<double>& weights, double gain)
      : at_(at), weights_(weights), gain_(gain), below_(at.size() + 1, 0.0), above_(at.size() + 1, 0.0) {
    const size_t n = at.size();
    for (size_t i = 0; i < n; ++i) below_[i + 1] = below_[i] + weights[i];
    for (size_t i = n; i > 0; --i) above_[i - 1] = above_[i] + weights[i - 1];
  }

  std::pair<double, double> logit(double s) const {
    const auto index = [&](double x) { return std::lower_bound(at_.begin(), at_.end(), x) - at_.begin(); };
    const auto first = static_cast<size_t>(index(s - reach / gain_)),
               last = static_cast<size_t>(index(s + reach / gain_));
    double lower = below_[first], upper = above_[last], slope = 0;
    for (size_t i = first; i < last; ++i) {
      const double t = gain_ * (s - at_[i]), e = std::exp(-std::fabs(t)), small = e / (1 + e), large = 1 / (1 + e);
      lower += weights_[i] * (t >= 0 ? large : small);
      upper += weights_[i] * (t >= 0 ? small : large);
      slope += weights_[i] * small * large;
    }
    return {std::log(lower) - std::log(upper), gain_ * slope / (lower * upper)};
  }

 private:
  const std::vector<double>&at_, &weights_;
  double gain_;
  std::vector<double> below_, above_;
};

}  // namespace

LogitTable::LogitTable(const std::vector<double>& at, const std::vector<double>& weights, double gain) {
  if (at.size() < 2) return;
  const Sums sums(at, weights, gain);
  const double span = at.back() - at.front() + 2 * margin / gain;
  const auto knots = static_cast<size_t>(std::clamp(std::ceil(density * gain * span), fewest_knots, most_knots));
  first_ = at.front() - margin / gain;
  step_ = span / static_cast<double>(knots - 1);
  for (size_t k = 0; k < knots; ++k) {
    const auto [logit, slope] = sums.logit(first_ + static_cast<double>(k) * step_);
    logit_.push_back(k == 0 ? logit : std::max(logit, logit_.back()));
    slope_.push_back(slope);
  }
  cap_slopes();
}

/// A cubic between rising knots rises where neither slope is above three secants (Fritsch & Carlson 1980).
void LogitTable::cap_slopes() {
  for (size_t k = 0; k + 1 < logit_.size(); ++k) {
    const double most = 3 * (logit_[k + 1] - logit_[k]) / step_;
    slope_[k] = std::min(slope_[k], most);
    slope_[k + 1] = std::min(slope_[k + 1], most);
  }
}

Smoothed LogitTable::at(double s) const {
  if (logit_.empty()) return {0.5, 0};
  const double place = (s - first_) / step_;
  const size_t end = logit_.size() - 1;
  double logit = 0, slope = 0;
  if (!(place > 0) || place >= static_cast<double>(end)) {
    const size_t k = place > 0 ? end : 0;
    slope = slope_[k];
    logit = logit_[k] + slope * (s - first_ - static_cast<double>(k) * step_);
  } else {
    const auto k = static_cast<size_t>(place);
    const double u = place - static_cast<double>(k), rise = logit_[k + 1] - logit_[k];
    const double from = step_ * slope_[k], to = step_ * slope_[k + 1];
    const double square = 3 * rise - 2 * from - to, cube = from + to - 2 * rise;
    logit = logit_[k] + u * (from + u * (square + u * cube));
    slope = (from + u * (2 * square + u * 3 * cube)) / step_;
  }
  const double value = sigma(logit);
  return {value, slope * value * sigma(-logit)};
}

}  // namespace mr
