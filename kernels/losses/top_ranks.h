// Top-N-Rank (Liang et al. 2018): - DCG over the rows that are now among the first N, with differentiable ranks. The
// rank of a row is a sum over all rows j of how far row j is above that row.
#pragma once

#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/losses/grades.h"
#include "kernels/ranking/discount.h"
#include "kernels/ranking/order.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// How far row j is above row i, as a function of by = f_j - f_i: max(0, by).
struct ReluAbove {
  MR_HD static double value(double by) { return by > 0 ? by : 0; }
  MR_HD static double slope(double by) { return by > 0 ? 1 : 0; }
};

/// How far row j is above row i, as a function of by = f_j - f_i: sigma(by), as in smooth ranks.
struct SigmoidAbove {
  MR_HD static double value(double by) { return sigmoid(by); }
  MR_HD static double slope(double by) { return logistic_kernel(by); }
};

/// Computes the loss of every list, and its derivative by every score unless `derivative` is null. The choice of the
/// first N rows has no gradient. `slopes` has an entry per row. Time O(N rows).
template <class Real, class Above>
struct TopRanksLoss {
  Span<const Real> scores;
  Span<const float> relevance;
  Span<const Placement> places;
  Ragged lists;
  int64_t first;
  Span<double> slopes;
  Span<Real> value, derivative;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const bool matters = grades_differ(group, relevance.data + at, n);
    group.each(n, [&](int64_t i) { slopes[at + i] = 0; });
    double total = 0;
    for (int64_t i = 0; matters && i < n; ++i) {
      const double gain = gain_of(relevance[at + i]);
      if (gain > 0 && places[at + i].above < first) total -= gain * of_row(group, at, n, i, gain);
    }
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(total); });
    if (derivative.data != nullptr)
      group.each(n, [&](int64_t i) { derivative[at + i] = static_cast<Real>(slopes[at + i]); });
  }

 private:
  MR_HD double by(int64_t j, int64_t i) const {
    return score_difference(static_cast<double>(scores[j]), static_cast<double>(scores[i]), 1.0);
  }

  /// Returns the discount of row i. Adds its derivative by every score, times -gain, to `slopes`.
  template <class Group>
  MR_HD double of_row(const Group& group, int64_t at, int64_t n, int64_t i, double gain) const {
    const double above = group.sum(n, [&](int64_t j) { return j == i ? 0.0 : Above::value(by(at + j, at + i)); });
    const SlopedDiscount discount = sloped_discount(1 + above);
    if (derivative.data == nullptr) return discount.value;
    const double weight = -gain * discount.slope;
    const double own = group.sum(n, [&](int64_t j) {
      if (j == i) return 0.0;
      const double slope = weight * Above::slope(by(at + j, at + i));
      slopes[at + j] += slope;
      return slope;
    });
    group.each(1, [&](int64_t) { slopes[at + i] -= own; });
    return discount.value;
  }
};
template <class Real>
using TopReluLoss = TopRanksLoss<Real, ReluAbove>;
template <class Real>
using TopSigmoidLoss = TopRanksLoss<Real, SigmoidAbove>;

}  // namespace mr
