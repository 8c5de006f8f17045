#include "runtime/ops/spectrum.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "runtime/lua/failure.h"

namespace mr {
namespace {

constexpr int64_t lanes = cpu::frequency_lanes;
constexpr double negligible = 1e-13;         // terms below end the series
constexpr int64_t most_terms = 1 << 17;      // a steeper kernel has no business with a Fourier series
constexpr double most_work = 4e6;            // states times ranks per frequency
constexpr double unlikely = 1e-19;           // counts of relevant rows that are less likely are left out
constexpr int64_t closed_form_pairs = 2000;  // of relevant and other rows, from which nRBP takes the closed form
constexpr double wide = 25;                  // deviations, from which it is worth to see whether the range is needed
constexpr int64_t most_levels = 8;           // besides the one that adds nothing

/// Levels as the transform takes them: the one with the most rows adds nothing, the others what they gain more.
struct Increase {
  std::vector<double> gain;
  std::vector<int64_t> rows;
  double base = 0;  // the gain of the level left out
  double states = 1;
};

Increase increase_of(const ListShape& shape) {
  const std::vector<Level> levels = levels_of(shape);
  const auto base =
      std::max_element(levels.begin(), levels.end(), [](const Level& a, const Level& b) { return a.rows < b.rows; });
  Increase out;
  out.base = base->gain;
  for (const Level& level : levels) {
    if (&level == &*base) continue;
    out.gain.push_back(level.gain - base->gain);
    out.rows.push_back(level.rows);
    out.states *= static_cast<double>(level.rows + 1);
  }
  return out;
}

/// For every rank the counts of p relevant rows among n that are likely enough to count.
void likely_counts(int64_t n, int64_t p, std::vector<int32_t>& low, std::vector<int32_t>& high) {
  std::vector<double> mass(static_cast<size_t>(p) + 2, 0.0);
  mass[0] = 1;
  int64_t least = 0, most = 0;
  for (int64_t r = 0; r < n; ++r) {
    const auto left = static_cast<double>(n - r);
    most = std::min(most + 1, p);
    for (int64_t c = most; c >= least; --c) {
      const double from = c > least ? mass[c - 1] * static_cast<double>(p - c + 1) : 0;
      mass[c] = (mass[c] * static_cast<double>(n - r - (p - c)) + from) / left;
    }
    while (least < most && mass[least] < unlikely) mass[least++] = 0;
    while (most > least && mass[most] < unlikely) mass[most--] = 0;
    low.push_back(static_cast<int32_t>(least));
    high.push_back(static_cast<int32_t>(most));
  }
}

/// Blocks of frequencies of the recursion over ranks, in order.
class Recursion {
 public:
  Recursion(const Increments& add, const ListShape& shape) {
    const auto increase = add.kind == cpu::Increment::average_precision ? Increase{{1}, {shape.p}} : increase_of(shape);
    for (const double d : add.d) always_ += add.scale * increase.base * d;
    rows_ = increase.rows;
    transform_.n = shape.n;
    transform_.levels = static_cast<int64_t>(rows_.size());
    transform_.rows_of = rows_.data();
    transform_.cumulative = add.kind == cpu::Increment::average_precision;
    if (transform_.levels == 1) likely_counts(shape.n, rows_[0], low_, high_);
    transform_.low = low_.data();
    transform_.high = high_.data();
    for (const double d : add.d) {
      for (const double gain : increase.gain) angle_.push_back(add.scale * gain * d);
    }
    start_.resize(2 * angle_.size());
    powers_.resize(2 * lanes * angle_.size());
    set_step(0);
    transform_.start = start_.data();
    transform_.powers = powers_.data();
    scratch_.resize(static_cast<size_t>(cpu::characteristic_scratch(transform_)));
  }

  /// The frequencies to come are step, 2 step, ...
  void set_step(double step) {
    for (size_t at = 0; at < angle_.size(); ++at) {
      start_[2 * at] = 1;
      start_[2 * at + 1] = 0;
      for (int64_t j = 0; j < lanes; ++j) {
        const double t = step * angle_[at] * static_cast<double>(j + 1);
        powers_[2 * lanes * at + j] = std::cos(t);
        powers_[2 * lanes * at + lanes + j] = std::sin(t);
      }
    }
  }

  /// What every ranking has and the recursion leaves out.
  double always() const { return always_; }

  /// log E exp(tilt[j] (X - mean)) for the sum X of one level's increments.
  void log_moments(double mean, const double* tilt, double* out) {
    const auto p = static_cast<double>(rows_[0]);
    const double per_angle = mean / (transform_.cumulative ? p * (p + 1) / 2 : p);
    std::vector<double> powers(powers_.size(), 0.0);
    for (int64_t r = 0; r < transform_.n; ++r) {
      for (int64_t j = 0; j < lanes; ++j) powers[2 * lanes * r + j] = std::exp(tilt[j] * (angle_[r] - per_angle));
    }
    cpu::RankingTransform tilted = transform_;
    tilted.powers = powers.data();
    double none[lanes];
    cpu::characteristic(tilted, scratch_.data(), out, none);
    for (int64_t j = 0; j < lanes; ++j) out[j] = std::log(out[j]);
  }
  bool one_level() const { return transform_.levels == 1; }

  void operator()(double* re, double* im) {
    cpu::characteristic(transform_, scratch_.data(), re, im);
    for (size_t at = 0; at < start_.size() / 2; ++at) turn(at);
  }

 private:
  /// On to the next block of frequencies.
  void turn(size_t at) {
    double& re = start_[2 * at];
    double& im = start_[2 * at + 1];
    const double c = powers_[2 * lanes * at + lanes - 1], s = powers_[2 * lanes * at + 2 * lanes - 1];
    const double was = re;
    re = was * c - im * s;
    im = was * s + im * c;
  }

  cpu::RankingTransform transform_;
  double always_ = 0;
  std::vector<int64_t> rows_;
  std::vector<int32_t> low_, high_;
  std::vector<double> angle_, start_, powers_, scratch_;
};

/// The nRBP loss is a Mann-Whitney statistic: a product of sines, about its mean (Mann & Whitney 1947).
double mann_whitney(int64_t n, int64_t p, double t) {
  const int64_t fewer = std::min(p, n - p);
  double phi = 1;
  for (int64_t j = 1; j <= fewer; ++j) {
    const auto a = static_cast<double>(j), b = static_cast<double>(n - fewer + j);
    phi *= a * std::sin(b * t / 2) / (b * std::sin(a * t / 2));
  }
  return phi;
}

/// Narrows [low, high] to where more than 1e-16 of the distribution can be, by Chernoff's bound at several tilts.
void narrow(Recursion& recursion, double centre, double mean, double sd, double& low, double& high) {
  constexpr double sizes[lanes / 2] = {1, 2, 3, 4, 6, 8, 11, 15}, log_rest = 37;
  double tilt[lanes], log_moment[lanes];
  for (int64_t j = 0; j < lanes; ++j) tilt[j] = (j % 2 == 0 ? 1 : -1) * sizes[j / 2] / sd;
  recursion.log_moments(centre, tilt, log_moment);
  for (int64_t j = 0; j < lanes; ++j) {
    if (!std::isfinite(log_moment[j])) continue;
    const double reach = (log_moment[j] + log_rest) / std::fabs(tilt[j]);
    if (tilt[j] > 0) {
      high = std::min(high, mean + reach);
    } else {
      low = std::max(low, mean - reach);
    }
  }
}

/// z / sinh z: the transform of the logistic kernel.
double kernel(double z) { return z > 300 ? 0 : z / std::sinh(z); }

}  // namespace

bool has_spectrum(const BoundedMetric& metric, const ListShape& shape) {
  if (shape.degenerate() || metric.family == BoundedMetric::rr) return false;
  if (metric.family == BoundedMetric::ap) return static_cast<double>(shape.p) < most_work;
  const Increase increase = increase_of(shape);
  if (increase.rows.size() == 1) return increase.states < most_work;
  return increase.rows.size() <= most_levels && increase.states * static_cast<double>(shape.n) <= most_work;
}

Spectrum::Spectrum(const BoundedMetric& metric, const ListShape& shape, double gain) : gain_(gain) {
  const BoundStats stats = bound_stats(metric, shape, true);
  low_ = stats.min;
  high_ = stats.max;
  mean_ = stats.expectation;
  int64_t k = 0;
  if (metric.family == BoundedMetric::nrbp_loss && shape.p * (shape.n - shape.p) > closed_form_pairs) {
    set_period();
    add_terms([&](double* re, double* im) {
      for (int64_t j = 0; j < lanes; ++j) re[j] = mann_whitney(shape.n, shape.p, step_ * static_cast<double>(++k));
      std::fill(im, im + lanes, 0.0);
    });
  } else {
    const Increments add = increments_of(metric, shape);
    Recursion recursion(add, shape);
    const double centre = mean_ + add.shift - recursion.always(), sd = std::sqrt(stats.variance);
    if (recursion.one_level() && high_ - low_ > wide * sd) narrow(recursion, centre, mean_, sd, low_, high_);
    set_period();
    recursion.set_step(step_);
    add_terms([&](double* re, double* im) {
      recursion(re, im);
      for (int64_t j = 0; j < lanes; ++j) {
        const double t = step_ * static_cast<double>(++k) * centre, c = std::cos(t), s = std::sin(t), x = re[j];
        re[j] = x * c + im[j] * s;
        im[j] = im[j] * c - x * s;
      }
    });
  }
  constant_ = -at(low_ - reach()).value;
}

void Spectrum::set_period() {
  period_ = high_ - low_ + 2 * reach();
  step_ = 2 * std::numbers::pi / period_;
}

template <class Blocks>
void Spectrum::add_terms(Blocks next) {
  double re[lanes], im[lanes];
  while (true) {
    if (terms() >= most_terms)
      throw ArgumentError("kappa", "too steep for the characteristic function: more than " +
                                       std::to_string(most_terms) + " frequencies");
    next(re, im);
    double last = 0;
    for (int64_t j = 0; j < lanes; ++j) {
      const double t = step_ * static_cast<double>(terms() + 1), psi = kernel(std::numbers::pi * t / gain_);
      if (j >= lanes / 2) last = std::max(last, std::hypot(re[j], im[j]) * psi);
      coefficients_.insert(coefficients_.end(), {re[j] * psi, im[j] * psi, re[j] * psi / t, im[j] * psi / t});
    }
    if (last < negligible) return;
  }
}

void Spectrum::at(const double* s, Smoothed* out) const {
  double re[lanes], im[lanes], first[lanes], second[lanes];
  for (int64_t j = 0; j < lanes; ++j) {
    // beyond the ends the kernel's tail is all there is, and the series would repeat itself
    const double inside = std::clamp(s[j], low_ - reach(), high_ + reach());
    re[j] = std::cos(step_ * (inside - mean_));
    im[j] = -std::sin(step_ * (inside - mean_));
  }
  cpu::fourier_sums(coefficients_.data(), terms(), re, im, first, second);
  for (int64_t j = 0; j < lanes; ++j) {
    const double inside = std::clamp(s[j], low_ - reach(), high_ + reach());
    out[j].value = constant_ + (inside - 2 * second[j]) / period_;
    out[j].derivative = (1 + 2 * first[j]) / period_;
  }
}

Smoothed Spectrum::at(double s) const {
  double points[lanes];
  std::fill(points, points + lanes, s);
  Smoothed out[lanes];
  at(points, out);
  return out[0];
}

double Spectrum::quantile(double level) const {
  double from = low_ - reach(), to = high_ + reach();
  double points[lanes];
  Smoothed out[lanes];
  while (to - from > 1e-6 * (high_ - low_)) {
    const double width = (to - from) / (lanes + 1);
    for (int64_t j = 0; j < lanes; ++j) points[j] = from + width * static_cast<double>(j + 1);
    at(points, out);
    int64_t below = 0;
    while (below < lanes && out[below].value < level) ++below;
    from += width * static_cast<double>(below);
    to = from + width;
  }
  return (from + to) / 2;
}

}  // namespace mr
