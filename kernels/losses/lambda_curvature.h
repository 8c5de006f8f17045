// Second derivatives of the pairwise logistic losses (lambda.h) by every score alone, for Newton steps of trees
// (LambdaMART; Burges 2010, section 7): a pair's a^2 |Delta M_ij| sigma(t) (1 - sigma(t)), t = a (s_j - s_i), counts
// for both of its rows. Delta counts as a constant, as it does in the first derivative.
#pragma once

#include "kernels/losses/lambda.h"

namespace mr {

/// `rows` and `spare` have a slot per row; curvature likewise.
template <class Swaps>
struct LambdaCurvature {
  using Row = typename Swaps::Row;
  RankedRows of;
  Swaps swaps;
  Span<Row> rows;
  Span<double> spare;
  Span<const double> scores;
  double gain;
  Span<double> curvature;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    swaps.fill(group, list, of, rows, spare);
    const auto delta = swaps.delta(group, list, of, rows);
    const int64_t at = of.lists.begin(list), n = of.lists.size(list);
    group.each(n, [&](int64_t k) {
      double sum = 0;
      const Row row = rows[at + k];
      for (int64_t j = at; j < at + n; ++j) {
        const Row other = rows[j];
        if (row.level > other.level) sum += delta(row, other) * steepness(at + k, j);
        if (row.level < other.level) sum += delta(other, row) * steepness(j, at + k);
      }
      curvature[at + k] = gain * gain * sum;
    });
  }

 private:
  MR_HD double steepness(int64_t i, int64_t j) const {
    const double s = sigmoid(score_difference(scores[j], scores[i], gain));
    return s * (1 - s);
  }
};

}  // namespace mr
