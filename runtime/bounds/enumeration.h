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

/// Whether `atoms_of` can list the distribution: the nRBP loss up to long lists where all rankings are equally likely,
/// RR, precision and recall always, the others where there are few arrangements of rows.
bool has_atoms(const Metric& metric, const ListShape& shape);
Atoms atoms_of(const Metric& metric, const ListShape& shape);

/// Probabilities of the nRBP loss 0, 1, ..., P (N - P): the coefficients of a Gaussian binomial (Mann & Whitney 1947).
std::vector<double> mann_whitney_pmf(int64_t n, int64_t p);

}  // namespace mr
