// How much an exact metric changes when two rows of unlike worth swap ranks, |Delta M_ij|. Ranks leave no ties. After
// O(N) per list a Delta costs O(1). Letters: i the better row, at rank r, j the other, at rank q.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/ranking/discount.h"
#include "kernels/ranking/order.h"

namespace mr {

enum class LambdaMetric : int8_t { pairs, ndcg, ap, rr, rbp, nrbp };

/// What a row brings into its pairs: its worth, what the metric needs of its rank, and 1 / its rank.
struct LambdaRow {
  double level, share, inverse_rank;
};

struct PairDelta {
  MR_HD double operator()(const LambdaRow&, const LambdaRow&) const { return 1; }
};

/// A metric that is a sum over rows of worth times something of the rank.
struct SumDelta {
  MR_HD double operator()(const LambdaRow& i, const LambdaRow& j) const {
    return (i.level - j.level) * std::fabs(i.share - j.share);
  }
};

/// AP: with H the sum of 1/rank over the c relevant rows above, i brings H - (c + 1) / r and j brings (c + 1) / q - H.
/// Their sum is won where j is above. Below, it is lost, less 1/q - 1/r.
struct ApDelta {
  double of_each;  // 1 / P
  MR_HD double operator()(const LambdaRow& i, const LambdaRow& j) const {
    const double sum = i.share + j.share;
    return of_each * (j.inverse_rank > i.inverse_rank ? sum : j.inverse_rank - i.inverse_rank - sum);
  }
};

/// RR changes where j is above all relevant rows, and where i is the first of them and j below: then j or the second
/// of them comes first.
struct RrDelta {
  double first, second;  // of the relevant rows, 1 / rank; 0 where there is none
  MR_HD double operator()(const LambdaRow& i, const LambdaRow& j) const {
    if (j.inverse_rank > first) return j.inverse_rank - first;
    return i.inverse_rank < first ? 0 : first - (j.inverse_rank > second ? j.inverse_rank : second);
  }
};

/// `targets` are the rows of a worth above 0; `ideal` is read for nDCG only; `rows`, and for AP `sums`, have a slot per
/// row.
struct LambdaRows {
  Span<const Placement> places;
  Span<const float> relevance;
  Ragged lists;
  Chosen targets;
  LambdaMetric metric;
  double p;  // of rbp and nrbp
  Span<const double> ideal;
  Span<LambdaRow> rows;
  Span<double> sums;

  /// Fills the list's slots.
  template <class Group>
  MR_HD void fill(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    group.each(n, [&](int64_t k) { rows[at + k].level = 0; });
    group.each(targets.size(list), [&](int64_t slot) {
      const int64_t row = at + targets(list, slot);
      rows[row].level = level_of(relevance[row]);
    });
    if (metric == LambdaMetric::ap) sum_inverse_ranks(group, list);
    group.each(n, [&](int64_t k) {
      rows[at + k].inverse_rank = 1 / rank_of(places[at + k]);
      rows[at + k].share = share_of(list, at + k);
    });
  }

  /// f(delta), where delta(i, j) is |Delta M_ij| of two rows of the list.
  template <class Group, class F>
  MR_HD void with_delta(const Group& group, int64_t list, F f) const {
    if (metric == LambdaMetric::pairs) return f(PairDelta{});
    if (metric == LambdaMetric::ap) return f(ApDelta{1 / static_cast<double>(targets.size(list))});
    if (metric != LambdaMetric::rr) return f(SumDelta{});
    const double first = inverse_rank_of(group, list, 0);
    f(RrDelta{first, inverse_rank_of(group, list, 1)});
  }

 private:
  MR_HD static double rank_of(const Placement& place) { return place.above + 1.0; }

  MR_HD double level_of(double grade) const {
    return metric == LambdaMetric::pairs ? grade : metric == LambdaMetric::ndcg ? gain_of(grade) : 1;
  }

  MR_HD double share_of(int64_t list, int64_t row) const {
    const Placement& place = places[row];
    if (metric == LambdaMetric::ndcg) return discount(rank_of(place)) / ideal[list];
    if (metric == LambdaMetric::rbp) return (1 - p) * std::pow(p, static_cast<double>(place.above));
    if (metric == LambdaMetric::nrbp) {
      const double most = 1 - std::pow(p, static_cast<double>(targets.size(list)));
      return (1 - p) * std::pow(p, static_cast<double>(place.above)) / most;
    }
    if (metric != LambdaMetric::ap) return 0;
    const double above = place.relevant_above > 0 ? sums[lists.begin(list) + place.relevant_above - 1] : 0;
    const double won = (place.relevant_above + 1.0) / rank_of(place) - above;
    return rows[row].level > 0 ? -won : won;
  }

  /// sums[c]: of 1/rank over the first c + 1 relevant rows.
  template <class Group>
  MR_HD void sum_inverse_ranks(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), relevant = targets.size(list);
    group.each(relevant, [&](int64_t slot) {
      const Placement& place = places[at + targets(list, slot)];
      sums[at + place.relevant_above] = 1 / rank_of(place);
    });
    group.each(1, [&](int64_t) {
      for (int64_t c = 1; c < relevant; ++c) sums[at + c] += sums[at + c - 1];
    });
  }

  /// 1 / rank of the relevant row with that many relevant rows above; 0 where there is none.
  template <class Group>
  MR_HD double inverse_rank_of(const Group& group, int64_t list, int32_t above) const {
    const int64_t at = lists.begin(list);
    return group.max(targets.size(list), 0.0, [&](int64_t slot) {
      const int64_t row = at + targets(list, slot);
      return places[row].relevant_above == above ? rows[row].inverse_rank : 0.0;
    });
  }
};

}  // namespace mr
