// Losses that replace the rank of a relevant row in a metric by the sigmoid of its score: CLiMF and TFMAP.
#pragma once

#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/losses/grades.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// CLiMF (Shi et al. 2012): - sum over relevant i of (log sigma(f_i) + sum over relevant j /= i of log(1 - sigma(f_j -
/// f_i))). `term` returns the loss of one row, `pair` that of a pair.
struct Climf {
  MR_HD static double term(double f) { return softplus(-f); }
  MR_HD static double term_slope(double f) { return -sigmoid(-f); }
  MR_HD static double pair(double, double by) { return softplus(by); }
  /// Returns the derivative by f_i of the losses of the two pairs (i, j) and (j, i) of relevant rows. The argument
  /// `by` is the score difference f_j - f_i.
  MR_HD static double pair_slope(double, double, double by) { return sigmoid(-by) - sigmoid(by); }
  MR_HD static double over(double) { return 1; }
};

/// TFMAP (Shi et al. 2012): - (1/P) sum over relevant i of sigma(f_i) sum over relevant j, including i, of sigma(f_j -
/// f_i).
struct Tfmap {
  MR_HD static double term(double f) { return -0.5 * sigmoid(f); }
  MR_HD static double term_slope(double f) { return -0.5 * sigmoid(f) * sigmoid(-f); }
  MR_HD static double pair(double f_i, double by) { return -sigmoid(f_i) * sigmoid(by); }
  MR_HD static double pair_slope(double f_i, double f_j, double by) {
    const double steep = logistic_kernel(by);
    return -sigmoid(f_i) * sigmoid(-f_i) * sigmoid(by) + sigmoid(f_i) * steep - sigmoid(f_j) * steep;
  }
  MR_HD static double over(double relevant) { return relevant; }
};

/// Computes the loss of every list, and its derivative by every score unless `derivative` is null. Time O(P^2) for P
/// relevant rows.
template <class Real, class Form>
struct OwnScoreLoss {
  Span<const Real> scores;
  Span<const float> relevance;
  Ragged lists;
  Chosen relevant;
  Span<Real> value, derivative;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const int64_t p = grades_differ(group, relevance.data + at, n) ? relevant.size(list) : 0;
    const double over = p > 0 ? Form::over(static_cast<double>(p)) : 1;
    if (derivative.data != nullptr) group.each(n, [&](int64_t i) { derivative[at + i] = 0; });
    const double total = group.sum(p, [&](int64_t slot) { return of_row(list, at, p, slot, over); });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(total / over); });
  }

 private:
  MR_HD double of_row(int64_t list, int64_t at, int64_t p, int64_t slot, double over) const {
    const int64_t i = at + relevant(list, slot);
    const double f = scores[i];
    double sum = Form::term(f), slope = Form::term_slope(f);
    for (int64_t other = 0; other < p; ++other) {
      if (other == slot) continue;
      const double g = scores[at + relevant(list, other)], by = score_difference(g, f, 1.0);
      sum += Form::pair(f, by);
      slope += Form::pair_slope(f, g, by);
    }
    if (derivative.data != nullptr) derivative[i] = static_cast<Real>(slope / over);
    return sum;
  }
};
template <class Real>
using ClimfLoss = OwnScoreLoss<Real, Climf>;
template <class Real>
using TfmapLoss = OwnScoreLoss<Real, Tfmap>;

}  // namespace mr
