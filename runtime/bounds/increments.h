// The terms that a metric adds up over the rows of a random ranking, for sampling and for exact distributions.
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/bounds/sample_rankings.h"
#include "kernels/core/functions.h"
#include "runtime/bounds/bound_stats.h"

namespace mr {

/// value = scale * sum over rows - shift. `kind` says what a row at rank r adds (Increment), with d[0] for rank 1.
struct Increments {
  Increment kind = Increment::linear;
  std::vector<double> d;
  double scale = 1, shift = 0;
};
Increments increments_of(const Metric& metric, const ListShape& shape);

/// The gains of a shape's rows, highest first: 1 and 0 where only relevance counts.
std::vector<double> gains_of(const ListShape& shape);

/// How far apart pulls may be for their weights to be added up.
constexpr double most_pull = 300;

/// Rows that gain the same, and are drawn with the same weight e^pull.
struct Level {
  double gain;
  int64_t rows;
  double pull;

  /// The weight of a row where one of the other level has 1; within what can be added up.
  double weight_against(const Level& other) const {
    return portable::exp(std::clamp(pull - other.pull, -most_pull, most_pull));
  }
};
/// From the highest gain down, that of 0 included where it occurs. Pairs compare grades: there a grade is its own gain.
std::vector<Level> levels_of(const ListShape& shape, Increment kind = Increment::graded);
/// The number of rows of each grade, from the highest down.
std::vector<int64_t> rows_of_grades(const ListShape& shape);

}  // namespace mr
