// Closed forms of a metric over all rankings of a list, as its definition gives them; runtime/bounds makes statistics
// and distributions of them.
#pragma once

#include <limits>
#include <tuple>
#include <vector>

#include "kernels/bounds/bounds.h"
#include "kernels/bounds/sample_rankings.h"
#include "runtime/ranking/metric.h"

namespace mr {

/// N rows of which P are relevant, or the grades where they matter: what decides a list's statistics. And what decides
/// its random rankings: rows are drawn without replacement with weights e^(beta grade) (Plackett 1975, Luce 1959),
/// where relevant rows have grade 1 unless there are grades.
struct ListShape {
  int64_t n = 0, p = 0;
  std::vector<float> grades;  // descending; empty where n and p say all
  double beta = 0;            // 0: all rankings are equally likely
  Gain gain = Gain::exp2;     // of the grades
  /// All rows are relevant, or none is.
  bool of_one_kind() const { return p == 0 || p == n; }
  bool operator<(const ListShape& o) const {
    return std::tie(n, p, grades, beta, gain) < std::tie(o.n, o.p, o.grades, o.beta, o.gain);
  }
};

/// Where discounts are so simple that distributions have closed forms too.
enum class Discounts : int8_t { any, ones, ranks };

/// A metric that adds up something of rank and gain over its rows, over a norm, less a shift.
struct ClosedForms {
  Increment kind = Increment::linear;       // what a row adds
  Increment of_grades = Increment::graded;  // what it adds where a list has several grades
  Discounts discounts = Discounts::any;
  /// d(r), for rank 1 ..
  double (*discount)(const Metric&, int64_t rank) = nullptr;
  /// True if d counts up to rank k. Other closed forms are not known with a cut-off.
  bool with_cutoff = false;
  /// Ranks below P count nothing.
  bool first_relevant_only = false;
  /// The divisor of the sum; null: the largest value that the sum can have.
  double (*norm)(const Metric&, const ListShape&) = nullptr;
  double (*shift)(const ListShape&) = nullptr;
  /// Statistics where there is something simpler than the sum; the variance apart where it takes long.
  BoundStats (*stats)(int64_t n, int64_t p) = nullptr;
  double (*variance)(int64_t n, int64_t p) = nullptr;
  double without_relevant = std::numeric_limits<double>::quiet_NaN();

  /// The kind of term that a row of such a list adds.
  Increment kind_of(const ListShape& shape) const { return shape.grades.empty() ? kind : of_grades; }
  /// How many of the first ranks count.
  int64_t counted_ranks(const Metric& metric, const ListShape& shape) const {
    return std::min({shape.n, with_cutoff ? metric.k : shape.n, first_relevant_only ? shape.p : shape.n});
  }
  /// Discounts of ranks 1 .. n.
  std::vector<double> discounts_of(const Metric& metric, const ListShape& shape) const {
    std::vector<double> d(static_cast<size_t>(shape.n), 0.0);
    for (int64_t r = 1, last = counted_ranks(metric, shape); r <= last; ++r) {
      if ((r & 0xFFFFF) == 0) cpu::check_interrupt();
      d[static_cast<size_t>(r) - 1] = discount(metric, r);
    }
    return d;
  }
};

}  // namespace mr
