#include "runtime/bounds/logit_table.h"

#include <algorithm>
#include <cmath>
#include <mutex>
#include <utility>

#include "kernels/core/logarithms.h"

namespace mr {
namespace {

// a sigmoid further from its centre than this, in units of 1 / steepness, counts as 0 or 1
constexpr double sigmoid_reach = 40;
// how far the table of the distribution function extends beyond the metric's lowest and highest value, in units of 1 /
// steepness
constexpr double margin = 8;
// number of table knots per 1 / steepness; the number of all knots is limited to fewest_knots .. LogitTable::most_knots
constexpr double density = 2;
constexpr double fewest_knots = 512;  // smallest number of knots of a table of the distribution function
// a table from a Fourier series covers the quantiles from `tail` to 1 - `tail`, where the series is accurate
constexpr double tail = 1e-10;

int64_t knots_for(double steepness, double span, double fewest) {
  return static_cast<int64_t>(std::clamp(std::ceil(density * steepness * span), fewest, LogitTable::most_knots));
}

/// Computes logit F~ and its derivative, with F~ a sum of weighted sigmoids. F~ and 1 - F~ are summed separately, so
/// that both are accurate when small.
class Sums {
 public:
  Sums(const std::vector<double>& at, const std::vector<double>& weights, double steepness)
      : at_(at), weights_(weights), steepness_(steepness), below_(at.size() + 1, 0.0), above_(at.size() + 1, 0.0) {
    const size_t n = at.size();
    for (size_t i = 0; i < n; ++i) below_[i + 1] = below_[i] + weights[i];
    for (size_t i = n; i > 0; --i) above_[i - 1] = above_[i] + weights[i - 1];
  }

  std::pair<double, double> logit(double s) const {
    const auto index = [&](double x) { return std::lower_bound(at_.begin(), at_.end(), x) - at_.begin(); };
    const auto first = static_cast<size_t>(index(s - sigmoid_reach / steepness_)),
               last = static_cast<size_t>(index(s + sigmoid_reach / steepness_));
    double lower = below_[first], upper = above_[last], slope = 0;
    for (size_t i = first; i < last; ++i) {
      const double t = steepness_ * (s - at_[i]), e = portable::exp(-std::fabs(t)), small = e / (1 + e),
                   large = 1 / (1 + e);
      lower += weights_[i] * (t >= 0 ? large : small);
      upper += weights_[i] * (t >= 0 ? small : large);
      slope += weights_[i] * small * large;
    }
    return {portable::log(lower) - portable::log(upper), steepness_ * slope / (lower * upper)};
  }

 private:
  const std::vector<double>&at_, &weights_;
  double steepness_;
  std::vector<double> below_, above_;
};

}  // namespace

LogitTable::LogitTable(double first, double step, std::vector<double> knots)
    : first_(first), step_(step), knots_(std::move(knots)) {}

LogitTable::LogitTable(const std::vector<double>& at, const std::vector<double>& weights, double steepness) {
  if (at.size() < 2) {
    add(0, 0, 0);
    return;
  }
  const Sums sums(at, weights, steepness);
  const double span = at.back() - at.front() + 2 * margin / steepness;
  const int64_t knots = knots_for(steepness, span, fewest_knots);
  first_ = at.front() - margin / steepness;
  step_ = span / static_cast<double>(knots - 1);
  for (int64_t k = 0; k < knots; ++k) {
    cpu::check_interrupt();
    const auto [logit, slope] = sums.logit(first_ + static_cast<double>(k) * step_);
    add(logit, slope, steepness);
  }
  cap_slopes();
}

LogitTable::LogitTable(const Spectrum& spectrum) {
  constexpr int64_t lanes = cpu::frequency_lanes;
  first_ = spectrum.quantile(tail);
  const double span = spectrum.quantile(1 - tail) - first_;
  const int64_t knots = (knots_for(spectrum.steepness(), span, fewest_knots / 2) + lanes - 1) / lanes * lanes;
  step_ = span / static_cast<double>(knots - 1);
  double points[lanes];
  Smoothed out[lanes];
  for (int64_t k = 0; k < knots; k += lanes) {
    cpu::check_interrupt();
    for (int64_t j = 0; j < lanes; ++j) points[j] = first_ + static_cast<double>(k + j) * step_;
    spectrum.at(points, out);
    for (const auto& [value, derivative] : out) {
      const double inside = std::clamp(value, tail / 2, 1 - tail / 2);
      add(portable::log(inside / (1 - inside)), std::max(0.0, derivative) / (inside * (1 - inside)),
          spectrum.steepness());
    }
  }
  cap_slopes();
}

void LogitTable::add(double logit, double slope, double steepness) {
  if (!knots_.empty()) logit = std::max(logit, knots_[knots_.size() - 2]);
  knots_.push_back(logit);
  knots_.push_back(std::min(slope, steepness));
}

/// Limits the slopes at the knots, so that the interpolating curve is monotone. That is the case if no slope exceeds
/// three times the slope of the line between two neighbouring knots (Fritsch & Carlson 1980).
void LogitTable::cap_slopes() {
  for (size_t k = 0; k + 2 < knots_.size(); k += 2) {
    const double most = 3 * (knots_[k + 2] - knots_[k]) / step_;
    knots_[k + 1] = std::min(knots_[k + 1], most);
    knots_[k + 3] = std::min(knots_[k + 3], most);
  }
}

Smoothed LogitTable::at(double s) const {
  const auto [logit, slope] = logit_at(view(Device::cpu), s);
  const double value = logistic(logit);
  return {value, slope * value * logistic(-logit)};
}

LogitView LogitTable::view(Device device) const {
  const auto count = static_cast<int64_t>(knots_.size()) / 2;
  if (device == Device::cpu) return {.knots = knots_.data(), .count = count, .first = first_, .step = step_};
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  if (!on_cuda_.defined()) on_cuda_ = Tensor::from(knots_, device);
  return {.knots = on_cuda_.span<const double>().data, .count = count, .first = first_, .step = step_};
}

}  // namespace mr
