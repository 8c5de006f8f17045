// Changes of metrics if two rows swap ranks, for metrics where the user stops: at the first relevant row (RR, hit), or
// with some probability (ERR).
#pragma once

#include "kernels/core/functions.h"
#include "kernels/ranking/swaps.h"

namespace mr {

/// Computes the change of a function of the first relevant row's rank if rows i and j swap ranks. It is nonzero in two
/// cases: j is above all relevant rows; or i is the first relevant row and j is below it, so that the first becomes j
/// or the second relevant row.
struct FirstSwaps {
  using Row = SwapRow;
  int64_t k;
  // the metric: true for RR (1 / rank of the first relevant row, 0 beyond rank k), false for hit (1 if that rank is at
  // most k)
  bool reciprocal;

  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double>) const {
    of.fill(group, list, rows, [](int64_t) { return 1.0; });
    const int64_t at = of.lists.begin(list);
    group.each(of.lists.size(list), [&](int64_t i) {
      rows[at + i].share = of.places[at + i].above >= k ? 0 : reciprocal ? rows[at + i].inverse_rank : 1;
    });
  }
  struct Delta {
    Row first, second;  // the two highest ranked relevant rows of the list; a missing one has zeros in all fields
    MR_HD double operator()(const Row& i, const Row& j) const {
      if (j.inverse_rank > first.inverse_rank) return j.share - first.share;
      if (i.inverse_rank < first.inverse_rank) return 0;
      return first.share - (j.inverse_rank > second.inverse_rank ? j.share : second.share);
    }
  };
  template <class Group>
  MR_HD Delta delta(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows) const {
    return {relevant_row(group, list, of, rows, 0), relevant_row(group, list, of, rows, 1)};
  }

 private:
  /// Returns the relevant row that has the given number of relevant rows above it.
  template <class Group>
  MR_HD Row relevant_row(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, int32_t above) const {
    const int64_t at = of.lists.begin(list);
    const int64_t found = group.max(of.better.size(list), int64_t{-1}, [&](int64_t slot) {
      const int64_t row = at + of.better(list, slot);
      return of.places[row].relevant_above == above ? row : int64_t{-1};
    });
    return found < 0 ? Row{0, 0, 0} : rows[found];
  }
};

/// Computes the change of ERR if two rows swap ranks: a user stops at rank r with probability R_r and reaches r with
/// probability left_r = prod over s < r of (1 - R_s). A swap changes the terms of both ranks, and multiplies the terms
/// of the ranks between by the ratio of the two rows' 1 - R.
struct CascadeSwaps {
  struct Row {
    double level;  // R, the probability that the user stops at the row
    // probability that the user reaches the row, divided by its rank; 0 beyond the cutoff k
    double share;
    double inverse_rank, brought;  // brought: part of ERR from the rows above this row, the sum of their level * share
  };
  int64_t k;
  double top;  // largest grade, for R = (2^y - 1) / 2^top of a row with grade y

  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double> by_rank) const {
    of.fill(group, list, rows, [&](int64_t row) { return gain_of(of.relevance[row]) / portable::exp2(top); });
    const int64_t at = of.lists.begin(list), n = of.lists.size(list);
    group.each(n, [&](int64_t i) { by_rank[at + of.places[at + i].above] = static_cast<double>(i); });
    group.each(1, [&](int64_t) {
      double left = 1, brought = 0;
      for (int64_t r = 0; r < n; ++r) {
        Row& row = rows[at + static_cast<int64_t>(by_rank[at + r])];
        row.share = r < k ? left * row.inverse_rank : 0;
        row.brought = brought;
        brought += row.level * row.share;
        left *= 1 - row.level;
      }
    });
  }
  struct Delta {
    MR_HD double operator()(const Row& i, const Row& j) const {
      const bool falls = i.inverse_rank > j.inverse_rank;
      const Row &upper = falls ? i : j, &lower = falls ? j : i;
      const double ratio = (1 - lower.level) / (1 - upper.level);
      const double between = lower.brought - upper.brought - upper.level * upper.share;
      const double change = (lower.level - upper.level) * upper.share + (ratio - 1) * between +
                            (ratio * upper.level - lower.level) * lower.share;
      return std::fabs(change);
    }
  };
  template <class Group>
  MR_HD Delta delta(const Group&, int64_t, const RankedRows&, Span<Row>) const {
    return {};
  }
};

}  // namespace mr
