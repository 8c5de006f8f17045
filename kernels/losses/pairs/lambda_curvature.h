// Second derivative of a pairwise loss (lambda.h) by each score alone, for Newton steps of trees (LambdaMART; Burges
// 2010, section 7). Each pair adds a^2 |Delta M_ij| c(t) to both of its rows, where t = a (s_j - s_i) and c is the
// curvature of the pair's cost (pair_forms.h). Delta M_ij has no gradient.
#pragma once

#include "kernels/losses/pairs/lambda.h"

namespace mr {

/// `rows`, `spare` and `curvature` have a slot per row.
template <class Swaps, class Form>
struct LambdaCurvature {
  using Row = typename Swaps::Row;
  RankedRows of;
  Swaps swaps;
  Span<Row> rows;
  Span<double> spare;
  Span<const double> scores;
  double steepness;
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
      curvature[at + k] = steepness * steepness * sum;
    });
  }

 private:
  template <class Delta>
  MR_HD double of_pair(const Delta& delta, int64_t i, int64_t j) const {
    const Row better = rows[i], worse = rows[j];
    if (!are_pair<Swaps>(i, better, j, worse)) return 0;
    return delta(better, worse) * form.curvature(score_difference(scores[j], scores[i], steepness));
  }
};

}  // namespace mr
