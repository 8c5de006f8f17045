// Metrics as sums of terms, one for each row of a ranking. Sampling and exact distributions compute metrics from these
// terms.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/bounds/sample_rankings.h"
#include "kernels/core/functions.h"
#include "runtime/bounds/bound_stats.h"

namespace mr {

/// Describes a metric as value = scale * (sum of a term per row) - shift. `kind` says how the term of a row follows
/// from its rank r and the discount d[r - 1].
struct Increments {
  Increment kind = Increment::linear;
  std::vector<double> d;
  double scale = 1, shift = 0;
};
Increments increments_of(const Metric& metric, const ListShape& shape);

/// Returns the gains of the rows of a list shape (numbers of rows and of relevant rows, or grades), in descending
/// order. They are 1 and 0 if only relevance counts.
std::vector<double> gains_of(const ListShape& shape);

/// Sampling weights are e^pull. Differences of `pull` larger than this are clamped, so that sums of weights do not
/// overflow.
constexpr double most_pull = 300;

/// A level: the rows of a list with the same gain. In weighted random rankings they are drawn with the same weight
/// e^pull.
struct Level {
  double gain;
  int64_t rows;
  double pull;

  /// Returns the sampling weight of a row of this level (rows with the same gain), relative to that of a row of the
  /// other level. It is clamped so that sums do not overflow.
  double weight_against(const Level& other) const {
    return portable::exp(std::clamp(pull - other.pull, -most_pull, most_pull));
  }
};
/// Returns the levels (rows with the same gain) of a list shape from the highest gain down; the last one may have gain
/// 0. For metrics of pairs (kind `pairs`), the grade itself counts as the gain.
std::vector<Level> levels_of(const ListShape& shape, Increment kind = Increment::graded);
/// Returns the number of rows of each grade, from the highest grade down.
std::vector<int64_t> rows_of_grades(const ListShape& shape);

}  // namespace mr
