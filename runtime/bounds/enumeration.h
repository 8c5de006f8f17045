// Exact distributions as lists: every value with its probability.
#pragma once

#include <vector>

#include "runtime/bounds/bound_stats.h"

namespace mr {

/// Values in any order, repeats allowed, with probabilities that add up to 1.
struct Atoms {
  std::vector<double> values, weights;
};

/// At most so many arrangements are enumerated.
constexpr double most_arrangements = 1e6;

/// True if `atoms_of` can list the distribution: the nRBP loss up to long lists where all rankings are equally likely,
/// RR, precision and recall always, the others where there are few arrangements of rows.
bool has_atoms(const Metric& metric, const ListShape& shape);
Atoms atoms_of(const Metric& metric, const ListShape& shape);

/// Probabilities of 0, 1, ... wrongly ordered pairs in a random ranking, from the number of rows of each grade: the
/// coefficients of a Gaussian multinomial, which for two grades is Mann & Whitney's (1947).
std::vector<double> inversions_pmf(std::vector<int64_t> rows);

}  // namespace mr
