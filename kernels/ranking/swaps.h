// How much an exact metric changes when two rows with different gains swap ranks, |Delta M_ij|. There are no ties. For
// each metric, a few numbers per row are computed first, in O(N) per list; then the change for one pair of rows costs
// O(1). Letters: i is the better row, at rank r; j is the other row, at rank q.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/ranking/discount.h"
#include "kernels/ranking/order.h"

namespace mr {

/// The rows of a ranking without ties. `better`: the rows whose worth (what a row adds to the metric) is above 0.
struct RankedRows {
  Span<const Placement> places;
  Span<const float> relevance;
  Ragged lists;
  Chosen better;

  MR_HD double relevant(int64_t list) const { return static_cast<double>(better.size(list)); }

  /// Sets rows[...].level to worth(row) for the better rows and to 0 for the others, and sets 1 / rank of all rows.
  template <class Group, class Row, class Worth>
  MR_HD void fill(const Group& group, int64_t list, Span<Row> rows, Worth worth) const {
    const int64_t at = lists.begin(list);
    group.each(lists.size(list), [&](int64_t i) {
      rows[at + i].level = 0;
      rows[at + i].inverse_rank = 1 / (places[at + i].above + 1.0);
    });
    group.each(better.size(list), [&](int64_t slot) {
      const int64_t row = at + better(list, slot);
      rows[row].level = worth(row);
    });
  }

  /// Computes prefix sums over the list's better rows (rows that add more than 0 to the metric) in order of rank:
  /// sums[c] is the sum of term(row) over the first c + 1 of them.
  template <class Group, class Term>
  MR_HD void sum_by_rank(const Group& group, int64_t list, Span<double> sums, Term term) const {
    const int64_t at = lists.begin(list), count = better.size(list);
    group.each(count, [&](int64_t slot) {
      const int64_t row = at + better(list, slot);
      sums[at + places[row].relevant_above] = term(row);
    });
    group.each(1, [&](int64_t) {
      for (int64_t c = 1; c < count; ++c) sums[at + c] += sums[at + c - 1];
    });
  }
  /// Returns the sum of a term over the better rows that are ranked above the given row, from the prefix sums of
  /// `sum_by_rank`.
  MR_HD double sum_above(int64_t list, int64_t row, const Span<double>& sums) const {
    const int32_t above = places[row].relevant_above;
    return above > 0 ? sums[lists.begin(list) + above - 1] : 0;
  }
};

/// Numbers of a row from which the change of a metric is computed if the row swaps ranks with another one: `level`, the
/// row's gain (0 if it is not relevant); `share`, which depends on its rank (for DCG the discount, divided by the ideal
/// DCG); and 1 / rank.
struct SwapRow {
  double level, share, inverse_rank;
};

/// A metric of the form: sum over rows of (worth times discount of the rank), divided by a norm of the list.
struct SumSwaps {
  using Row = SwapRow;
  Span<const double> discounts;  // discounts of ranks 1, 2, ...
  Span<const double> norms;
  Gain gain = Gain::linear;  // gain of grades if `graded`; otherwise every better row has gain 1
  bool graded = false;
  // true if only the first P ranks count, where P is the number of relevant rows of the list
  bool first_relevant_only = false;

  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double>) const {
    of.fill(group, list, rows,
            [&](int64_t row) { return graded ? gain_of(of.relevance[row], gain) - gain_of(0, gain) : 1; });
    const int64_t at = of.lists.begin(list), last = first_relevant_only ? of.better.size(list) : of.lists.size(list);
    group.each(of.lists.size(list), [&](int64_t i) {
      const int64_t above = of.places[at + i].above;
      rows[at + i].share = above < last ? discounts[above] / norms[list] : 0;
    });
  }
  struct Delta {
    MR_HD double operator()(const Row& i, const Row& j) const {
      return (i.level - j.level) * std::fabs(i.share - j.share);
    }
  };
  template <class Group>
  MR_HD Delta delta(const Group&, int64_t, const RankedRows&, Span<Row>) const {
    return {};
  }
};

/// Computes the change of AP if a relevant row i at rank r and another row j at rank q swap ranks. Let d(r) = 1/r up
/// to rank k, else 0. For each row, let c be the number of relevant rows above it and H the sum of d over these.
/// Removing row i changes the sum of precisions by H - (c + 1) d(r); inserting row j at its rank changes it by (c + 1)
/// d(q) - H, with the c and H of j. If j is above i, the change is the sum of both. If j is below, it is d(q) - d(r)
/// minus the sum of both.
struct ApSwaps {
  using Row = SwapRow;
  int64_t k;
  bool by_cutoff;  // true: divide AP by min(P, k); false: divide by P, the number of relevant rows

  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double> sums) const {
    of.fill(group, list, rows, [](int64_t) { return 1.0; });
    of.sum_by_rank(group, list, sums, [&](int64_t row) { return discount_at(of, row); });
    const int64_t at = of.lists.begin(list);
    group.each(of.lists.size(list), [&](int64_t i) {
      const double won =
          (of.places[at + i].relevant_above + 1.0) * discount_at(of, at + i) - of.sum_above(list, at + i, sums);
      rows[at + i].share = rows[at + i].level > 0 ? -won : won;
    });
  }
  struct Delta {
    double of_each;  // 1 / P for P relevant rows, or 1 / min(P, k) if `by_cutoff`
    double last;     // 1 / (k + 1/2): a row whose inverse rank is smaller is beyond the cutoff k
    MR_HD double operator()(const Row& i, const Row& j) const {
      const double sum = i.share + j.share;
      return of_each * (j.inverse_rank > i.inverse_rank ? sum : within(j.inverse_rank) - within(i.inverse_rank) - sum);
    }
    MR_HD double within(double inverse_rank) const { return inverse_rank > last ? inverse_rank : 0; }
  };
  template <class Group>
  MR_HD Delta delta(const Group&, int64_t list, const RankedRows& of, Span<Row>) const {
    const double relevant = of.relevant(list), most = static_cast<double>(k);
    return {1 / (by_cutoff && relevant > most ? most : relevant), 1 / (most + 0.5)};
  }

 private:
  MR_HD double discount_at(const RankedRows& of, int64_t row) const {
    const int64_t above = of.places[row].above;
    return above < k ? 1 / (static_cast<double>(above) + 1) : 0;
  }
};

}  // namespace mr
