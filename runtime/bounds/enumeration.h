// Exact distributions of metrics over random rankings, as lists of values with their probabilities.
#pragma once

#include <vector>

#include "runtime/bounds/bound_stats.h"

namespace mr {

/// A discrete distribution: values in any order, possibly repeated, with probabilities `weights` that sum to 1.
struct Atoms {
  std::vector<double> values, weights;
};

/// largest number of arrangements of rows for which the values of a metric are enumerated
constexpr double most_arrangements = 1e6;

/// Returns true if `atoms_of` can list the values of the metric with their probabilities. For RR, precision and recall
/// it always can. For the nRBP loss it can up to several hundred rows if all rankings are equally likely. For other
/// metrics it can if there are few different arrangements of rows.
bool has_atoms(const Metric& metric, const ListShape& shape);
Atoms atoms_of(const Metric& metric, const ListShape& shape);

/// Returns the probabilities of 0, 1, ... wrongly ordered pairs in a random ranking. `rows` has the number of rows of
/// each grade. The probabilities are the coefficients of a Gaussian multinomial; for two grades they are those of Mann
/// & Whitney (1947).
std::vector<double> inversions_pmf(std::vector<int64_t> rows);

}  // namespace mr
