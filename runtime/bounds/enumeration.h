// Exact distributions of metrics as lists of values with probabilities.
#pragma once

#include <vector>

#include "runtime/bounds/bound_stats.h"

namespace mr {

/// Values in any order, possibly repeated, with probabilities that sum to 1.
struct Atoms {
  std::vector<double> values, weights;
};

/// largest number of arrangements of rows that are enumerated
constexpr double most_arrangements = 1e6;

/// Returns true if `atoms_of` can list the distribution. It can for the nRBP loss up to long lists if all rankings are
/// equally likely, always for RR, precision and recall, and for other metrics if there are few arrangements of rows.
bool has_atoms(const Metric& metric, const ListShape& shape);
Atoms atoms_of(const Metric& metric, const ListShape& shape);

/// Returns the probabilities of 0, 1, ... wrongly ordered pairs in a random ranking, from the number of rows of each
/// grade. They are the coefficients of a Gaussian multinomial; for two grades, of Mann & Whitney (1947).
std::vector<double> inversions_pmf(std::vector<int64_t> rows);

}  // namespace mr
