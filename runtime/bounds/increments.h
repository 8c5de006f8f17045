// The terms of a metric, one for each row of a random ranking, for sampling and for exact distributions.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/bounds/sample_rankings.h"
#include "kernels/core/functions.h"
#include "runtime/bounds/bound_stats.h"

namespace mr {

/// Describes a metric as value = scale * (sum over rows) - shift. `kind` says what a row at rank r adds; d[0] belongs
/// to rank 1.
struct Increments {
  Increment kind = Increment::linear;
  std::vector<double> d;
  double scale = 1, shift = 0;
};
Increments increments_of(const Metric& metric, const ListShape& shape);

/// Returns the gains of the rows of a list shape, descending: 1 and 0 if only relevance counts.
std::vector<double> gains_of(const ListShape& shape);

/// largest difference of the exponents `pull` of two sampling weights e^pull for which sums of weights do not overflow
constexpr double most_pull = 300;

/// A level: rows with the same gain, which are drawn with the same weight e^pull.
struct Level {
  double gain;
  int64_t rows;
  double pull;

  /// Returns the weight of a row relative to that of a row of the other level, clamped so that sums do not overflow.
  double weight_against(const Level& other) const {
    return portable::exp(std::clamp(pull - other.pull, -most_pull, most_pull));
  }
};
/// Returns the levels (rows with the same gain) from the highest gain down, with gain 0 if it occurs. For pairs, a
/// grade counts as its own gain.
std::vector<Level> levels_of(const ListShape& shape, Increment kind = Increment::graded);
/// Returns the number of rows of each grade, from the highest grade down.
std::vector<int64_t> rows_of_grades(const ListShape& shape);

}  // namespace mr
