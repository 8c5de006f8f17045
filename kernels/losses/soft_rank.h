// SoftRank's nDCG (Taylor et al. 2008): the score of a row is normally distributed around the model's score, so that
// the rank of a row has a distribution. The loss is - nDCG with the expected discount of each row. Time is cubic in the
// list's rows.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/losses/grades.h"
#include "kernels/ranking/discount.h"

namespace mr {

/// Returns Phi(z), the normal distribution function, accurate to 1e-15, by a series of the error function in which all
/// terms have one sign.
MR_HD inline double normal_below(double z) {
  if (z > 8.5) return 1;
  if (z < -8.5) return 0;
  double term = z, sum = z;
  for (int k = 3; k < 400 && std::fabs(term) > 1e-17 * std::fabs(sum); k += 2) {
    term *= z * z / k;
    sum += term;
  }
  const double p = 0.5 + sum * portable::exp(-0.5 * z * z) * 0.39894228040143267794;
  return p < 0 ? 0 : p > 1 ? 1 : p;
}
MR_HD inline double normal_density(double z) { return portable::exp(-0.5 * z * z) * 0.39894228040143267794; }

/// Computes the loss of every list, and its derivative by every score unless `derivative` is null. `spare` has five
/// entries per row.
template <class Real>
struct SoftRankLoss {
  Span<const Real> scores;
  Span<const float> relevance;
  Ragged lists;
  Span<const double> ideal;
  double sd;
  Span<double> spare;
  Span<Real> value, derivative;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const double best = ideal[list];
    const bool matters = grades_differ(group, relevance.data + at, n);
    if (derivative.data != nullptr) group.each(n, [&](int64_t i) { derivative[at + i] = 0; });
    double* const discounts = spare.data + 5 * at;
    group.each(n, [&](int64_t r) { discounts[r] = discount(static_cast<double>(r + 1)); });
    double total = 0;
    for (int64_t j = 0; matters && j < n; ++j) {
      const double gain = gain_of(relevance[at + j]);
      if (gain > 0) total -= gain / best * of_row(group, at, n, j, gain / best);
    }
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(total); });
  }

  /// Returns (s_i - s_j) / standard deviation of the difference, for rows i and j with scores s of the list that
  /// begins at `at`. In SoftRank, row i is above row j with probability Phi of this number.
  MR_HD double z(int64_t at, int64_t i, int64_t j) const {
    const double a = scores[at + i], b = scores[at + j];
    return a == b ? 0 : (a - b) / (sd * 1.41421356237309504880);
  }

 private:
  /// Returns the expected discount of row j. Adds the derivative of this discount by every score, times -weight, to
  /// the loss's derivative.
  template <class Group>
  MR_HD double of_row(const Group& group, int64_t at, int64_t n, int64_t j, double weight) const {
    const double* const discounts = spare.data + 5 * at;
    double* const beats = spare.data + 5 * at + n;  // beats[i]: probability that row i is above row j
    double* now = beats + n;
    double* next = now + n;
    double* const slopes = next + n;
    group.each(n, [&](int64_t i) {
      beats[i] = normal_below(z(at, i, j));
      now[i] = i == 0 ? 1 : 0;
    });
    int64_t rows = 1;
    for (int64_t i = 0; i < n; ++i) {
      if (i == j) continue;
      const double up = beats[i];
      ++rows;
      group.each(rows,
                 [&](int64_t r) { next[r] = (r + 1 < rows ? now[r] * (1 - up) : 0) + (r > 0 ? now[r - 1] * up : 0); });
      double* const swapped = now;
      now = next;
      next = swapped;
    }
    const double expected = group.sum(n, [&](int64_t r) { return now[r] * discounts[r]; });
    if (derivative.data == nullptr) return expected;
    group.each(n, [&](int64_t i) {
      slopes[i] =
          i == j ? 0 : worth(now, discounts, n, beats[i]) * normal_density(z(at, i, j)) / (sd * 1.41421356237309504880);
      derivative[at + i] -= static_cast<Real>(weight * slopes[i]);
    });
    const double all = group.sum(n, [&](int64_t i) { return slopes[i]; });
    group.each(1, [&](int64_t) { derivative[at + j] += static_cast<Real>(weight * all); });
    return expected;
  }

  /// Returns how much a row's expected discount changes if another row moves from certainly below to certainly above.
  /// The change is a sum over the distribution of the row's rank without the other row. That distribution is computed
  /// from `ranks`, the one with the other row, starting at the end at which no digits cancel.
  static MR_HD double worth(const double* ranks, const double* discounts, int64_t n, double up) {
    double without = 0, sum = 0;
    const auto step = [&](int64_t r) { return discounts[r + 1] - discounts[r]; };
    if (up <= 0.5) {
      for (int64_t r = 0; r + 1 < n; ++r) {
        without = (ranks[r] - up * without) / (1 - up);
        sum += without * step(r);
      }
    } else {
      for (int64_t r = n - 2; r >= 0; --r) {
        without = (ranks[r + 1] - (1 - up) * without) / up;
        sum += without * step(r);
      }
    }
    return sum;
  }
};

}  // namespace mr
