// Pairwise losses: the sum over pairs of rows with grades y_i > y_j of |Delta M_ij| log(1 + exp(-a (s_i - s_j))). Delta
// M_ij is the change of an exact metric if rows i and j swap their current ranks (LambdaRank; Burges 2010), or 1
// (RankNet). Delta M_ij has no gradient, so the derivative by s_i is -a |Delta M_ij| sigma(a (s_j - s_i)) (Li, Urbano &
// Hanjalic 2021, Eqs. 8 to 10). Other costs than the logistic one are in pair_forms.h, other weights than Delta M_ij in
// pair_weights.h.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/losses/pairs/pair_forms.h"
#include "kernels/losses/row_weights.h"
#include "kernels/ranking/swaps.h"
#include "kernels/smooth/smooth_rank.h"

namespace mr {

/// Gives every pair of rows with unequal grades the weight 1.
struct PairSwaps {
  struct Row {
    double level, inverse_rank;
  };
  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double>) const {
    of.fill(group, list, rows, [&](int64_t row) { return static_cast<double>(of.relevance[row]); });
  }
  struct Delta {
    MR_HD double operator()(const Row&, const Row&) const { return 1; }
  };
  template <class Group>
  MR_HD Delta delta(const Group&, int64_t, const RankedRows&, Span<Row>) const {
    return {};
  }
};

/// Returns true if row i, at position `at_i` of the batch, and row j at `at_j` are a pair with i as its better row: i
/// has the higher level, or, if the weights `Swaps` are for all pairs (every_pair), i and j are different rows.
template <class Swaps>
MR_HD bool are_pair(int64_t at_i, const typename Swaps::Row& i, int64_t at_j, const typename Swaps::Row& j) {
  if constexpr (requires { Swaps::every_pair; }) return at_i != at_j;
  return j.level < i.level;
}

/// Computes the loss of every list, and its derivative by every score unless `derivative` is null. `rows` and `spare`
/// have an entry per row. A pair is also multiplied by the weight of its better row i (`weights`). The kernels of the
/// CPU also compute `curvature` unless it is null, for Newton steps of trees (LambdaMART; Burges 2010, section 7). It
/// is the second derivative by each score alone, or what the pair's cost has in its place. Each pair adds a^2 |Delta
/// M_ij| c(t) to both of its rows, where c is the curvature of the pair's cost (pair_forms.h).
template <class Real, class Swaps, class Form = LogisticPair>
struct LambdaLoss {
  using Row = typename Swaps::Row;
  RankedRows of;
  Swaps swaps;
  Span<Row> rows;
  Span<double> spare;
  Span<const Real> scores;
  Real steepness;
  Span<Real> value, derivative;
  Form form = {};
  Span<const double> weights = {};
  Span<Real> curvature = {};

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    swaps.fill(group, list, of, rows, spare);
    add_up(group, list, swaps.delta(group, list, of, rows));
  }

  /// Returns a (s_j - s_i) for rows i and j with scores s, where a is the steepness: positive if the rows are in the
  /// wrong order.
  MR_HD Real wrong_by(int64_t i, int64_t j) const { return score_difference(scores[j], scores[i], steepness); }

 private:
  /// Sums up the pairs of every row with all other rows. Each pair is computed twice, so that no lane writes to the
  /// entry of another row.
  template <class Group, class Delta>
  MR_HD void add_up(const Group& group, int64_t list, Delta delta) const {
    const int64_t at = of.lists.begin(list), n = of.lists.size(list);
    const double total = group.sum(n, [&](int64_t k) {
      double slope = 0;
      const double sum = rows[at + k].level > 0 ? over_worse(at, n, at + k, delta, slope) : 0;
      if (derivative.data != nullptr) {
        derivative[at + k] = static_cast<Real>(steepness * (slope + over_better(list, at + k, delta)));
      }
      return sum;
    });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(total); });
  }

  template <class Delta>
  MR_HD double over_worse(int64_t at, int64_t n, int64_t i, Delta delta, double& slope) const {
    const Row row = rows[i];
    const double own = row_weight(weights, i);
    double sum = 0;
    for (int64_t j = at; j < at + n; ++j) {
      const Row other = rows[j];
      if (!are_pair<Swaps>(i, row, j, other)) continue;
      const double weight = own * delta(row, other);
      // leaves out a pair of weight 0: its cost may be infinite, and 0 times infinity is NaN
      if (weight == 0) continue;
      const auto pair = form(PlainMath<Real>{}, wrong_by(i, j), weight);
      sum += pair.value;
      slope -= pair.slope;
    }
    return sum;
  }

  template <class Delta>
  MR_HD double over_better(int64_t list, int64_t j, Delta delta) const {
    const int64_t at = of.lists.begin(list), better = of.better.size(list);
    const Row row = rows[j];
    double slope = 0;
    for (int64_t slot = 0; slot < better; ++slot) {
      const int64_t i = at + of.better(list, slot);
      const Row other = rows[i];
      if (!are_pair<Swaps>(i, other, j, row)) continue;
      slope += form(PlainMath<Real>{}, wrong_by(i, j), row_weight(weights, i) * delta(other, row)).slope;
    }
    return slope;
  }
};

}  // namespace mr
