// Closed forms of a metric's statistics over all rankings of a list, which are part of the metric's definition.
// runtime/bounds computes statistics and distributions from them.
#pragma once

#include <limits>
#include <tuple>
#include <vector>

#include "kernels/bounds/bounds.h"
#include "kernels/bounds/sample_rankings.h"
#include "runtime/ranking/metric.h"

namespace mr {

/// The shape of a list: N rows of which P are relevant, or the grades if they matter. Also says how random rankings are
/// drawn: without replacement with weights e^(beta grade) (Plackett 1975, Luce 1959). If there are no grades, relevant
/// rows have grade 1.
struct ListShape {
  int64_t n = 0, p = 0;
  std::vector<float> grades;  // grades of the rows, descending; empty if the metric depends on n and p only
  double beta = 0;            // beta of the sampling weights e^(beta grade); 0: all rankings are equally likely
  Gain gain = Gain::exp2;     // how grades are converted to gains
  bool of_one_kind() const { return p == 0 || p == n; }
  bool operator<(const ListShape& o) const {
    return std::tie(n, p, grades, beta, gain) < std::tie(o.n, o.p, o.grades, o.beta, o.gain);
  }
};

/// The kind of discounts: all 1 or equal to the rank, for which distributions have closed forms, or any other.
enum class Discounts : int8_t { any, ones, ranks };

/// Describes a metric of the form: (sum over rows of a function of rank and gain) / norm - shift.
struct ClosedForms {
  Increment kind = Increment::linear;  // kind of term that a row adds to the metric's sum
  // kind of term that a row adds to the metric's sum if the list has several grades
  Increment of_grades = Increment::graded;
  Discounts discounts = Discounts::any;
  /// discounts d(r), for ranks from 1
  double (*discount)(const Metric&, int64_t rank) = nullptr;
  /// True if a cutoff k is supported: the discounts of ranks beyond k are then 0. Other metrics have no cutoff.
  bool with_cutoff = false;
  /// True if only ranks 1 to P count, where P is the number of relevant rows. Rows at later ranks add 0 to the metric.
  bool first_relevant_only = false;
  /// Returns the number by which the sum over rows is divided. Null: the sum is divided by the largest value that it
  /// can have.
  double (*norm)(const Metric&, const ListShape&) = nullptr;
  double (*shift)(const ListShape&) = nullptr;
  /// `stats` returns the statistics by a formula that is simpler than the sum over rows; null if there is none. If
  /// computing the variance takes long, it has a function of its own, `variance`.
  BoundStats (*stats)(int64_t n, int64_t p) = nullptr;
  double (*variance)(int64_t n, int64_t p) = nullptr;
  double without_relevant = std::numeric_limits<double>::quiet_NaN();

  Increment kind_of(const ListShape& shape) const { return shape.grades.empty() ? kind : of_grades; }
  /// Returns the number of first ranks on which the metric depends: rows at later ranks add nothing.
  int64_t counted_ranks(const Metric& metric, const ListShape& shape) const {
    return std::min({shape.n, with_cutoff ? metric.k : shape.n, first_relevant_only ? shape.p : shape.n});
  }
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
