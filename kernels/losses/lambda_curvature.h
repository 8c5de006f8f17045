// Second derivatives of the pairwise losses (lambda.h) by every score alone, for Newton steps of trees (LambdaMART;
// Burges 2010, section 7): a pair's a^2 |Delta M_ij| times its form's curvature at t = a (s_j - s_i), sigma(t) (1 -
// sigma(t)) of logistic ones, counts for both of its rows. Delta counts as a constant, as it does in the first
// derivative.
#pragma once

#include "kernels/losses/lambda.h"

namespace mr {

/// `rows` and `spare` have a slot per row; curvature likewise.
template <class Swaps, class Form>
struct LambdaCurvature {
  using Row = typename Swaps::Row;
  RankedRows of;
  Swaps swaps;
  Span<Row> rows;
  Span<double> spare;
  Span<const double> scores;
  double gain;
  Form form;
  Span<double> curvature;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    swaps.fill(group, list, of, rows, spare);
    const auto delta = swaps.delta(group, list, of, rows);
    const int64_t at = of.lists.begin(list), n = of.lists.size(list);
    group.each(n, [&](int64_t k) {
      double sum = 0;
      for (int64_t j = at; j < at + n; ++j) sum += of_pair(delta, at + k, j) + of_pair(delta, j, at + k);
      curvature[at + k] = gain * gain * sum;
    });
  }

 private:
  template <class Delta>
  MR_HD double of_pair(const Delta& delta, int64_t i, int64_t j) const {
    const Row better = rows[i], worse = rows[j];
    if (!are_pair<Swaps>(i, better, j, worse)) return 0;
    return delta(better, worse) * form.curvature(score_difference(scores[j], scores[i], gain));
  }
};

}  // namespace mr
