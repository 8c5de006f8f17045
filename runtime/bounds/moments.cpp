#include "runtime/bounds/moments.h"

#include <algorithm>
#include <cmath>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/increments.h"
#include "runtime/bounds/ranking_recursion.h"

namespace mr {
namespace {

constexpr double unlikely = 1e-24;
// smallest accepted standard deviation of a metric over random rankings, as a fraction of its largest minus its
// smallest possible value
constexpr double least_spread = 1e-3;

/// A state of a random ranking after some ranks: its probability `mass`, and mean and variance of the metric's sum so
/// far.
struct Part {
  double mass = 0, mean = 0, variance = 0;

  /// Merges into this state, reached after some ranks, the rankings that come from state `was` with the given
  /// probability and add x to the metric's sum.
  void add(double probability, const Part& was, double x) {
    const double more = probability * was.mass;
    if (more == 0) return;
    const double all = mass + more, away = was.mean + x - mean;
    variance = (mass * variance + more * was.variance) / all + mass * more / (all * all) * away * away;
    mean += away * more / all;
    mass = all;
  }
};

/// Computes mean and variance of a metric's sum over random rankings, rank by rank. A state says how many rows of each
/// level (rows with the same gain) have been drawn. The recursion is that of kernels/bounds/characteristic_cpu.h.
class Walk {
 public:
  Walk(const Increments& add, const ListShape& shape)
      : add_(add), increase_(increase_of(shape, add.kind)), n_(shape.n), others_(shape.n) {
    for (size_t l = increase_.rows.size(); l-- > 0;) {
      strides_.insert(strides_.begin(), states_);
      states_ *= increase_.rows[l] + 1;
      others_ -= increase_.rows[l];
    }
    parts_.resize(static_cast<size_t>(states_));
    parts_[0].mass = 1;
  }

  Part at_the_end() {
    // first and last state with nonzero probability; a state says how many rows with each gain have been drawn
    int64_t low = 0, high = 0;
    for (int64_t r = 0; r < n_; ++r) {
      cpu::check_interrupt();
      high = std::min(states_ - 1, high + strides_[0]);
      for (int64_t s = high; s >= low; --s) {
        const Part now = after(r, s);
        parts_[s] = now.mass < unlikely ? Part{} : now;
      }
      while (low < high && parts_[low].mass == 0) ++low;
      while (high > low && parts_[high].mass == 0) --high;
    }
    return parts_.back();
  }

 private:
  int64_t count(int64_t state, size_t level) const { return state / strides_[level] % (increase_.rows[level] + 1); }

  /// Computes state s after rank r of a random ranking. The state says how many rows of each level (rows with the same
  /// gain) have been drawn. It is reached from itself, if a row of the base level is drawn, and from the states with
  /// one row less of another level.
  Part after(int64_t r, int64_t s) const {
    int64_t sum = 0;
    double weight = 0;
    for (size_t l = 0; l < strides_.size(); ++l) {
      sum += count(s, l);
      weight += static_cast<double>(increase_.rows[l] - count(s, l)) * increase_.weight[l];
    }
    Part now;
    const auto others = static_cast<double>(others_ - (r - sum));
    if (sum > r + 1 || others < 1) return now;
    if (sum <= r) now.add(others / (weight + others), parts_[s], increase_.base * add_.d[r]);
    for (size_t l = 0; l < strides_.size(); ++l) {
      if (count(s, l) == 0) continue;
      const double own = increase_.weight[l];
      const double wanted = static_cast<double>(increase_.rows[l] - count(s, l) + 1) * own;
      now.add(wanted / (weight + own + (others - 1)), parts_[s - strides_[l]], added(r, l, count(s, l)));
    }
    return now;
  }

  /// Returns what a row adds to the metric's sum if it has rank r and is the count-th row of its level (rows with the
  /// same gain).
  double added(int64_t r, size_t level, int64_t count) const {
    if (add_.kind == Increment::average_precision) return static_cast<double>(count) * add_.d[r];
    return (increase_.base + increase_.gain[level]) * add_.d[r];
  }

  const Increments& add_;
  Increase increase_;
  int64_t n_, others_, states_ = 1;
  std::vector<int64_t> strides_;
  std::vector<Part> parts_;
};

}  // namespace

Moments moments_of(const Metric& metric, const ListShape& shape) {
  if (shape.beta == 0 || degenerate(metric, shape)) {
    const BoundStats stats = bound_stats(metric, shape, true);
    return {stats.expectation, std::sqrt(stats.variance)};
  }
  if (!has_spectrum(metric, shape)) {
    const Distribution listed(atoms_of(metric, shape));
    return {listed.mean(), listed.sd()};
  }
  const Increments add = increments_of(metric, shape);
  const Part end = Walk(add, shape).at_the_end();
  return {add.scale * end.mean - add.shift, add.scale * std::sqrt(end.variance)};
}

void check_spread(const Metric& metric, const ListShape& shape, double sd) {
  if (shape.beta == 0 || degenerate(metric, shape)) return;
  char text[400];
  // Sampling weights are e^(beta grade). The ratio of two weights must be at most e^300, so that sums do not overflow.
  const double pulls = shape.grades.empty() ? 0 : std::fabs(shape.beta) * (shape.grades.front() - shape.grades.back());
  if (pulls > most_pull) {
    std::snprintf(
        text, sizeof text,
        "%g times %g, the highest minus the lowest grade, is too far from 0: expected a product from %g to %g",
        shape.beta, static_cast<double>(shape.grades.front() - shape.grades.back()), -most_pull, most_pull);
    throw ArgumentError("beta", text);
  }
  const BoundStats stats = bound_stats(metric, shape, false);
  if (sd >= least_spread * (stats.max - stats.min)) return;
  std::snprintf(
      text, sizeof text,
      "%g is too far from 0 for %s of lists with %lld rows of which %lld are relevant: of random rankings "
      "drawn with the weights e^(beta grade), nearly all have the same value of the metric (standard deviation "
      "%.3g, while the values possible span %.3g). Pass a beta nearer to 0",
      shape.beta, metric.name.c_str(), static_cast<long long>(shape.n), static_cast<long long>(shape.p), sd,
      stats.max - stats.min);
  throw ArgumentError("beta", text);
}

}  // namespace mr
