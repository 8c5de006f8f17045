// Pairwise losses: over pairs of rows with grades y_i > y_j, |Delta M_ij| log(1 + exp(-a (s_i - s_j))), where Delta
// M_ij is the change of an exact metric by the swap of the two at the current scores (LambdaRank; Burges 2010), or 1
// (RankNet). Delta counts as a constant, so the derivative by s_i is that of Li, Urbano & Hanjalic (2021, Eqs. 8 to
// 10), -a |Delta M_ij| sigma(a (s_j - s_i)).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/losses/swaps.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// One value per list, and its derivative by every score (null: not asked for).
template <class Real>
struct LambdaLoss {
  LambdaRows of;
  Span<const Real> scores;
  Real gain;
  Span<Real> value, derivative;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    of.fill(group, list);
    of.with_delta(group, list, [&](auto delta) { add_up(group, list, delta); });
  }

  /// a (s_j - s_i) of two rows.
  MR_HD Real wrong_by(int64_t i, int64_t j) const { return score_difference(scores[j], scores[i], gain); }

 private:
  /// Every row walks its own partners: each pair is met twice, and no lane writes another's slot.
  template <class Group, class Delta>
  MR_HD void add_up(const Group& group, int64_t list, Delta delta) const {
    const int64_t at = of.lists.begin(list), n = of.lists.size(list);
    const double total = group.sum(n, [&](int64_t k) {
      double slope = 0;
      const double sum = of.rows[at + k].level > 0 ? over_worse(at, n, at + k, delta, slope) : 0;
      if (derivative.data != nullptr) {
        derivative[at + k] = static_cast<Real>(gain * (slope + over_better(list, at + k, delta)));
      }
      return sum;
    });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(total); });
  }

  template <class Delta>
  MR_HD double over_worse(int64_t at, int64_t n, int64_t i, Delta delta, double& slope) const {
    const LambdaRow row = of.rows[i];
    double sum = 0;
    for (int64_t j = at; j < at + n; ++j) {
      const LambdaRow other = of.rows[j];
      if (other.level >= row.level) continue;
      const double weight = delta(row, other);
      if (weight == 0) continue;  // also of an infinite loss
      const Real t = wrong_by(i, j);
      sum += weight * softplus(t);
      slope -= weight * sigmoid(t);
    }
    return sum;
  }

  template <class Delta>
  MR_HD double over_better(int64_t list, int64_t j, Delta delta) const {
    const int64_t at = of.lists.begin(list), better = of.targets.size(list);
    const LambdaRow row = of.rows[j];
    double slope = 0;
    for (int64_t slot = 0; slot < better; ++slot) {
      const int64_t i = at + of.targets(list, slot);
      const LambdaRow other = of.rows[i];
      if (other.level > row.level) slope += delta(other, row) * sigmoid(wrong_by(i, j));
    }
    return slope;
  }
};

}  // namespace mr
