#include "runtime/bounds/spectrum.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numbers>

#include "kernels/core/angles.h"
#include "kernels/core/threads.h"
#include "runtime/bounds/enumeration.h"
#include "runtime/bounds/moments.h"
#include "runtime/bounds/ranking_recursion.h"
#include "runtime/lua/failure.h"

namespace mr {
namespace {

constexpr int64_t lanes = cpu::frequency_lanes;
constexpr double negligible = 1e-13;  // the Fourier series ends when its terms are smaller than this
// Largest number of terms of the Fourier series. With a steeper smoothing kernel the series converges too slowly.
constexpr int64_t most_terms = 1 << 17;
// Largest work per frequency of the characteristic function. The work is the number of ranks times the number of
// states, which are the possible counts of rows drawn with each gain.
constexpr double most_work = 4e6;
// with more pairs of a relevant and an irrelevant row, nRBP's characteristic function is computed in closed form
constexpr int64_t closed_form_pairs = 2000;
// If the range of a metric is more than this many standard deviations, the Fourier series covers only the part of the
// range that has nearly all probability.
constexpr double wide = 25;
// largest number of different gains in a list, not counting the base level (that of most rows)
constexpr int64_t most_grades = 8;

/// Returns the characteristic function, at frequency t, of the number of wrongly ordered pairs in a random ranking with
/// two grades, minus its mean. This is a Mann-Whitney statistic (1947), and the function is a product of sines.
double mann_whitney(int64_t n, int64_t p, double t) {
  constexpr int64_t block = 64;  // number of factors that are computed as vectors and then multiplied in order
  const int64_t fewer = std::min(p, n - p);
  double phi = 1, factors[block];
  for (int64_t first = 1; first <= fewer; first += block) {
    const int64_t count = std::min(block, fewer - first + 1);
    for (int64_t i = 0; i < count; ++i) {
      const auto a = static_cast<double>(first + i), b = static_cast<double>(n - fewer + first + i);
      factors[i] = a * portable::sin(b * t / 2) / (b * portable::sin(a * t / 2));
    }
    for (int64_t i = 0; i < count; ++i) phi *= factors[i];
  }
  return phi;
}

/// Returns the characteristic function, at frequency t, of the number of wrongly ordered pairs with several grades,
/// minus its mean. The number is a sum of independent Mann-Whitney statistics, one for each grade against all higher
/// ones.
double wrong_pairs(const std::vector<int64_t>& rows, double t) {
  double phi = 1;
  int64_t n = 0;
  for (const int64_t of_grade : rows) {
    if (n > 0) phi *= mann_whitney(n + of_grade, of_grade, t);
    n += of_grade;
  }
  return phi;
}

/// Returns true if the metric's characteristic function has a closed form, a product of sines.
bool is_product(const Metric& metric, const ListShape& shape) {
  if (closed_forms_of(metric).discounts != Discounts::ranks || shape.beta != 0) return false;
  return !shape.grades.empty() || shape.p * (shape.n - shape.p) > closed_form_pairs;
}

/// Narrows [low, high], the range of a metric, to a part that has all but 1e-16 of its distribution. The part is found
/// by Chernoff's bound at several exponential tilts.
void narrow(RankingRecursion& recursion, double centre, double mean, double sd, double& low, double& high) {
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

/// Returns z / sinh z, the Fourier transform of the logistic kernel (the derivative of the sigmoid).
double kernel(double z) {
  if (z > 300) return 0;
  const double t = portable::expm1(z);
  return 2 * z / (t + t / (t + 1));
}

}  // namespace

bool has_spectrum(const Metric& metric, const ListShape& shape) {
  const Increment kind = closed_forms_of(metric).kind;
  if (shape.of_one_kind() || kind == Increment::first) return false;
  if (closed_forms_of(metric).kind_of(shape) == Increment::pairs) return shape.beta == 0 && !has_atoms(metric, shape);
  if (kind == Increment::average_precision) return static_cast<double>(shape.p) < most_work;
  const Increase increase = increase_of(shape);
  if (increase.rows.size() == 1) return increase.states < most_work;
  return increase.rows.size() <= most_grades && increase.states * static_cast<double>(shape.n) <= most_work;
}

struct Spectrum::Source {
  ListShape shape;
  std::vector<int64_t> rows;                    // number of rows of each grade; empty if rows are only relevant or not
  std::unique_ptr<RankingRecursion> recursion;  // computes the characteristic function; null if it has a closed form
  double centre = 0;
  int64_t k = 0;

  void next(double step, double* re, double* im) {
    cpu::check_interrupt();
    if (recursion == nullptr) {
      for (int64_t j = 0; j < lanes; ++j) {
        const double t = step * static_cast<double>(++k);
        re[j] = rows.empty() ? mann_whitney(shape.n, shape.p, t) : wrong_pairs(rows, t);
      }
      std::fill(im, im + lanes, 0.0);
      return;
    }
    recursion->next(re, im);
    for (int64_t j = 0; j < lanes; ++j) {
      const double t = step * static_cast<double>(++k) * centre, c = portable::cos(t), s = portable::sin(t), x = re[j];
      re[j] = x * c + im[j] * s;
      im[j] = im[j] * c - x * s;
    }
  }
};

Spectrum::Spectrum(const Metric& metric, const ListShape& shape, double steepness, Device device, Source& source)
    : steepness_(steepness) {
  const BoundStats stats = bound_stats(metric, shape, false);
  low_ = stats.min;
  high_ = stats.max;
  const Moments moments = moments_of(metric, shape);
  mean_ = moments.mean;
  source.shape = shape;
  source.rows = rows_of_grades(shape);
  if (is_product(metric, shape)) {
    set_period();
    return;
  }
  const Increments add = increments_of(metric, shape);
  source.recursion = std::make_unique<RankingRecursion>(add, shape, device);
  source.centre = mean_ + add.shift - source.recursion->always();
  if (source.recursion->one_level() && high_ - low_ > wide * moments.sd)
    narrow(*source.recursion, source.centre, mean_, moments.sd, low_, high_);
  set_period();
  source.recursion->set_step(step_);
}

Spectrum::Spectrum(const Metric& metric, const ListShape& shape, double steepness, Device device)
    : steepness_(steepness) {
  Source source;
  *this = Spectrum(metric, shape, steepness, device, source);
  while (!add_terms(source, most_terms)) {
  }
  finish();
}

std::vector<Spectrum> Spectrum::of(const Metric& metric, const std::vector<ListShape>& shapes,
                                   const std::vector<double>& steepnesses, Device device) {
  constexpr int64_t blocks = RankingRecursion::calls_per_launch;
  // largest number of list shapes per GPU launch: the recursion states of all of them are in memory at once
  constexpr size_t most_at_once = 256;
  std::vector<Spectrum> out;
  std::vector<Source> sources(shapes.size());
  std::vector<size_t> growing;
  for (size_t i = 0; i < shapes.size(); ++i) {
    out.push_back(Spectrum(metric, shapes[i], steepnesses[i], device, sources[i]));
    growing.push_back(i);
  }
  while (!growing.empty()) {
    std::vector<RankingRecursion*> waiting;
    const size_t now = std::min(growing.size(), most_at_once);
    for (size_t g = 0; g < now; ++g) {
      RankingRecursion* const recursion = sources[growing[g]].recursion.get();
      if (recursion != nullptr && recursion->runs_on_device()) waiting.push_back(recursion);
    }
    if (!waiting.empty()) RankingRecursion::launch(waiting);
    const auto done = [&](size_t i) { return out[i].add_terms(sources[i], blocks); };
    growing.erase(std::remove_if(growing.begin(), growing.begin() + static_cast<int64_t>(now), done),
                  growing.begin() + static_cast<int64_t>(now));
  }
  for (Spectrum& spectrum : out) spectrum.finish();
  return out;
}

void Spectrum::set_period() {
  period_ = high_ - low_ + 2 * reach();
  step_ = 2 * std::numbers::pi / period_;
}

bool Spectrum::add_terms(Source& source, int64_t blocks) {
  double re[lanes], im[lanes];
  for (int64_t block = 0; block < blocks; ++block) {
    if (terms() >= most_terms)
      throw ArgumentError("kappa", "is too steep for the characteristic function, which would need more than " +
                                       std::to_string(most_terms) + " frequencies. Pass a smaller kappa");
    source.next(step_, re, im);
    double last = 0;
    for (int64_t j = 0; j < lanes; ++j) {
      const double t = step_ * static_cast<double>(terms() + 1), psi = kernel(std::numbers::pi * t / steepness_);
      if (j >= lanes / 2) last = std::max(last, std::sqrt(re[j] * re[j] + im[j] * im[j]) * psi);
      coefficients_.insert(coefficients_.end(), {re[j] * psi, im[j] * psi, re[j] * psi / t, im[j] * psi / t});
    }
    if (last < negligible) return true;
  }
  return false;
}

void Spectrum::at(const double* s, Smoothed* out) const {
  double re[lanes], im[lanes], first[lanes], second[lanes];
  for (int64_t j = 0; j < lanes; ++j) {
    // F~ has been clamped to this range of s. Outside of it, only the tail of the smoothing kernel is left, and the
    // periodic Fourier series would be wrong.
    const double inside = std::clamp(s[j], low_ - reach(), high_ + reach());
    re[j] = portable::cos(step_ * (inside - mean_));
    im[j] = -portable::sin(step_ * (inside - mean_));
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
