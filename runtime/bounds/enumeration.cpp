#include "runtime/bounds/enumeration.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/core/logarithms.h"
#include "kernels/core/threads.h"
#include "runtime/bounds/increments.h"
#include "runtime/bounds/relevant_counts.h"

namespace mr {
namespace {

using portable::log_factorial;

// longest list with several grades for which the number of wrongly ordered pairs is enumerated
constexpr int64_t most_rows_of_grades = 300;

double log_choose(int64_t n, int64_t k) { return log_factorial(n) - log_factorial(k) - log_factorial(n - k); }

/// Returns true if the metric is the number of wrongly ordered pairs (nRBP loss) under equally likely rankings, and the
/// list is short enough for `inversions_pmf`: its subtractions then lose few digits.
bool has_pmf(const Metric& metric, const ListShape& shape) {
  if (closed_forms_of(metric).discounts != Discounts::ranks || shape.beta != 0) return false;
  if (!shape.grades.empty()) return shape.n <= most_rows_of_grades;
  return shape.n <= 600 || (shape.n <= 1000 && shape.p * (shape.n - shape.p) <= shape.n * shape.n / 5);
}

/// Returns the number of ranks, from the top, on which the metric depends.
int64_t counted_ranks(const Metric& metric, const ListShape& shape) {
  return closed_forms_of(metric).counted_ranks(metric, shape);
}

/// Returns an upper bound of the number of different arrangements of rows at the ranks that the metric depends on. Rows
/// with the same gain are interchangeable.
double arrangements(const Metric& metric, const ListShape& shape) {
  const int64_t ranks = counted_ranks(metric, shape);
  const std::vector<Level> levels = levels_of(shape);
  double whole = log_factorial(shape.n);
  for (const Level& level : levels) whole -= log_factorial(level.rows);
  if (ranks == shape.n) return portable::exp(whole);
  if (levels.size() > 2)
    return portable::exp(
        std::min(whole, static_cast<double>(ranks) * portable::log(static_cast<double>(levels.size()))));
  double ways = 0;
  for (int64_t j = std::max<int64_t>(0, ranks - (shape.n - shape.p)); j <= std::min(ranks, shape.p); ++j) {
    ways += portable::exp(log_choose(ranks, j));
  }
  return ways;
}

/// Enumerates, depth first, all arrangements of rows at the ranks that the metric depends on. Rows with the same gain
/// are interchangeable.
class Arrangements {
 public:
  Arrangements(const Metric& metric, const ListShape& shape)
      : add_(increments_of(metric, shape)), ranks_(counted_ranks(metric, shape)), rows_(shape.n) {
    const std::vector<Level> levels = levels_of(shape, add_.kind);
    for (const Level& level : levels) {
      gains_.push_back(level.gain);
      left_.push_back(level.rows);
      if (shape.beta != 0) weights_.push_back(level.weight_against(levels.back()));
    }
    all_ = left_;
  }

  Atoms listed() {
    visit(0, 0, 0, 1);
    double total = 0;
    for (const double w : out_.weights) total += w;
    for (double& w : out_.weights) w /= total;
    return std::move(out_);
  }

 private:
  double added(size_t level, int64_t rank, int64_t relevant) const {
    if (add_.kind == Increment::pairs) return lower_above(level);
    if (gains_[level] == 0) return 0;
    const bool cumulative = add_.kind == Increment::average_precision;
    return (cumulative ? static_cast<double>(relevant + 1) : gains_[level]) * add_.d[rank];
  }

  /// Returns the number of rows of lower grades that already have a rank. Each of them is a wrongly ordered pair with a
  /// row that is placed now.
  double lower_above(size_t level) const {
    int64_t rows = 0;
    for (size_t l = level + 1; l < left_.size(); ++l) rows += all_[l] - left_[l];
    return static_cast<double>(rows);
  }

  void visit(int64_t rank, int64_t relevant, double sum, double chance) {
    const auto has_rows = [](int64_t rows) { return rows > 0; };
    const auto first = std::find_if(left_.begin(), left_.end(), has_rows);
    if (rank == ranks_ || std::none_of(first + 1, left_.end(), has_rows))
      return finish(first, rank, relevant, sum, chance);
    double weight = 0;
    for (size_t l = 0; l < weights_.size(); ++l) weight += static_cast<double>(left_[l]) * weights_[l];
    for (size_t l = 0; l < left_.size(); ++l) {
      if (left_[l] == 0) continue;
      const double own = weights_.empty() ? 1 : chance * (static_cast<double>(left_[l]) * weights_[l] / weight);
      --left_[l];
      visit(rank + 1, relevant + (gains_[l] > 0 ? 1 : 0), sum + added(l, rank, relevant), own);
      ++left_[l];
    }
  }

  /// Ends an arrangement: fills the ranks that are left with rows of one level (the same gain), and adds the metric's
  /// value and its probability to the result.
  void finish(std::vector<int64_t>::iterator level, int64_t rank, int64_t relevant, double sum, double chance) {
    const int64_t placed = ranks_ - rank;
    if (placed > 0) {
      const auto l = static_cast<size_t>(level - left_.begin());
      const bool adds = gains_[l] > 0 || add_.kind == Increment::pairs;
      for (; adds && rank < ranks_; ++rank) sum += added(l, rank, relevant++);
      *level -= placed;
    }
    out_.values.push_back(add_.scale * sum - add_.shift);
    out_.weights.push_back(weights_.empty() ? portable::exp(log_ways()) : chance);
    if (placed > 0) *level += placed;
  }

  /// Returns the logarithm of the probability that a random ranking has rows with these gains at the ranks that the
  /// metric depends on.
  double log_ways() const {
    if (ranks_ == rows_) return 0;
    double log = log_factorial(rows_ - ranks_) - log_factorial(rows_);
    for (size_t l = 0; l < left_.size(); ++l) {
      log += log_factorial(all_[l]) - log_factorial(left_[l]);
    }
    return log;
  }

  Increments add_;
  int64_t ranks_, rows_;
  // gains and sampling weights of the levels (groups of rows with the same gain); `weights_` is empty if all weights
  // are equal
  std::vector<double> gains_, weights_;
  std::vector<int64_t> left_, all_;
  Atoms out_;
};

/// Returns the sampling weight of a relevant row; other rows have weight 1.
double relevant_weight(const ListShape& shape) {
  return shape.of_one_kind() ? 1 : levels_of(shape).front().weight_against(levels_of(shape).back());
}

/// Returns the distribution of the reciprocal rank. Its value is 1/r with the probability that the first relevant row
/// has rank r.
Atoms rr_atoms(const ListShape& shape) {
  Atoms out;
  const double wanted = static_cast<double>(shape.p) * relevant_weight(shape);
  double at = wanted / (wanted + static_cast<double>(shape.n - shape.p));
  for (int64_t r = 1; r <= shape.n - shape.p + 1; ++r) {
    out.values.push_back(1 / static_cast<double>(r));
    out.weights.push_back(at);
    const auto others = static_cast<double>(shape.n - shape.p - r);
    if (r < shape.n) at *= (others + 1) / (wanted + others);
  }
  return out;
}

/// Returns the distribution of `scale` times the number of relevant rows at the first k ranks, if relevant rows have a
/// sampling weight. It is computed rank by rank.
Atoms weighted_hits_atoms(const ListShape& shape, int64_t k, double scale) {
  RelevantCounts counts(shape.n, shape.p, relevant_weight(shape));
  for (int64_t r = 0; r < k; ++r) counts.next();
  Atoms out;
  for (int64_t j = counts.least(); j <= counts.most(); ++j) {
    out.values.push_back(scale * static_cast<double>(j));
    out.weights.push_back(counts.probability(j));
  }
  return out;
}

/// Returns the distribution of precision or recall, which is the number of relevant rows at the first k ranks times a
/// constant. That number is hypergeometric if rankings are equally likely.
Atoms hits_atoms(const Metric& metric, const ListShape& shape) {
  const int64_t k = counted_ranks(metric, shape);
  const double scale = increments_of(metric, shape).scale;
  if (shape.beta != 0) return weighted_hits_atoms(shape, k, scale);
  Atoms out;
  double total = 0;
  for (int64_t j = std::max<int64_t>(0, k - (shape.n - shape.p)); j <= std::min(k, shape.p); ++j) {
    out.values.push_back(scale * static_cast<double>(j));
    out.weights.push_back(
        portable::exp(log_choose(shape.p, j) + log_choose(shape.n - shape.p, k - j) - log_choose(shape.n, k)));
    total += out.weights.back();
  }
  for (double& w : out.weights) w /= total;
  return out;
}

bool counts_hits(const Metric& metric) { return closed_forms_of(metric).discounts == Discounts::ones; }

}  // namespace

std::vector<double> inversions_pmf(std::vector<int64_t> rows) {
  std::sort(rows.begin(), rows.end(), std::greater<>());
  // `last` becomes the largest possible number of wrongly ordered pairs, `before` the number of rows
  int64_t last = 0, before = 0;
  for (const int64_t k : rows) last += std::exchange(before, before + k) * k;
  const int64_t half = last / 2;
  std::vector<double> c(static_cast<size_t>(half) + 1, 0.0);
  c[0] = 1;
  before = rows[0];
  int64_t most = 0;
  for (size_t grade = 1; grade < rows.size(); ++grade) {
    for (int64_t i = 1; i <= rows[grade]; ++i) {
      cpu::check_interrupt();
      const int64_t m = before + i, top = std::min(half, most + i * before);
      for (int64_t u = top; u >= m; --u) c[u] -= c[u - m];  // multiplies the polynomial with coefficients c by 1 - q^m
      const double share = static_cast<double>(i) / static_cast<double>(m);
      // divides the polynomial with coefficients c by 1 - q^i; the factor i / m makes c sum to 1, as probabilities do
      for (int64_t u = 0; u <= top; ++u) c[u] = c[u] * share + (u >= i ? c[u - i] : 0);
    }
    most += rows[grade] * before;
    before += rows[grade];
  }
  std::vector<double> pmf(static_cast<size_t>(last) + 1);
  for (int64_t u = 0; u <= half; ++u) pmf[u] = pmf[last - u] = c[u];
  double total = 0;
  for (const double x : pmf) total += x;
  if (!(std::fabs(total - 1) < 1e-9))
    throw std::runtime_error("the probabilities of wrongly ordered pairs do not add up to 1");
  for (double& x : pmf) x /= total;
  return pmf;
}

bool has_atoms(const Metric& metric, const ListShape& shape) {
  if (closed_forms_of(metric).kind == Increment::first || counts_hits(metric) || shape.p == shape.n) return true;
  if (has_pmf(metric, shape)) return true;
  return arrangements(metric, shape) <= most_arrangements * (1 + 1e-9);
}

Atoms atoms_of(const Metric& metric, const ListShape& shape) {
  if (shape.p == shape.n) return {{bound_stats(metric, shape, false).best}, {1.0}};
  if (closed_forms_of(metric).kind == Increment::first) return rr_atoms(shape);
  if (counts_hits(metric)) return hits_atoms(metric, shape);
  if (has_pmf(metric, shape)) {
    const bool binary = shape.grades.empty();
    Atoms out{{}, inversions_pmf(binary ? std::vector{shape.p, shape.n - shape.p} : rows_of_grades(shape))};
    for (size_t u = 0; u < out.weights.size(); ++u) out.values.push_back(static_cast<double>(u));
    return out;
  }
  return Arrangements(metric, shape).listed();
}

}  // namespace mr
