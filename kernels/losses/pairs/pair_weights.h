// Weights of pairs of rows that are not changes of a built-in metric: RankNet over all pairs, LambdaLoss (Wang et al.
// 2018), and the change of a metric that a script declares. They have the interface of swap differences
// (kernels/ranking/swaps.h).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/ranking/swaps.h"

namespace mr {

/// Values of a row that the weights of its pairs use: `level`, a number that follows from its grade (for NDCG-Loss1
/// also from its rank), and 1 / its rank.
struct PairRow {
  double level, inverse_rank;
};

/// Weights of RankNet's cross entropies of all unordered pairs, whose targets are 1, 1/2 and 0 (Burges et al. 2005).
/// With equal grades, both orders of a pair weigh 1/2. With unequal grades, the pair weighs `upsample`, or the list's
/// entry of `upsample_of`. `better` contains every row.
struct TargetPairs {
  using Row = PairRow;
  static constexpr bool every_pair = true;
  double upsample;
  // for every list, the weight of its pairs with unequal grades; null: `upsample` for all lists
  Span<const double> upsample_of;

  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double>) const {
    of.fill(group, list, rows, [&](int64_t row) { return static_cast<double>(of.relevance[row]) + 1; });
  }
  struct Delta {
    double unequal;
    MR_HD double operator()(const Row& i, const Row& j) const {
      return i.level > j.level ? unequal : i.level == j.level ? 0.5 : 0.0;
    }
  };
  template <class Group>
  MR_HD Delta delta(const Group&, int64_t list, const RankedRows&, Span<Row>) const {
    return {upsample_of.data != nullptr ? upsample_of[list] : upsample};
  }
};

constexpr double log2_of_e = 1.44269504088896340736;

/// Pair weights of NDCG-Loss1 (LambdaLoss, Wang et al. 2018): every pair of row i with another row weighs G_i /
/// D(r_i), where G_i is the gain of row i divided by the ideal DCG, r_i its rank and D(r) the divisor in DCG. The
/// factor log2(e) makes the costs logarithms to base 2. The weight is 0 if all grades of the list are equal. `better`
/// contains the rows with a gain above 0.
struct GainPairs {
  using Row = PairRow;
  static constexpr bool every_pair = true;
  Span<const double> discounts;  // 1 / D(r) for the ranks r = 1, 2, ..., where D is the divisor in DCG
  Span<const double> norms;      // ideal DCG

  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double>) const {
    const int64_t at = of.lists.begin(list), n = of.lists.size(list);
    const auto grade = [&](int64_t i) { return static_cast<double>(of.relevance[at + i]); };
    const double highest = group.max(n, -HUGE_VAL, grade),
                 lowest = -group.max(n, -HUGE_VAL, [&](int64_t i) { return -grade(i); });
    of.fill(group, list, rows, [&](int64_t row) {
      const double gain = gain_of(of.relevance[row]) / norms[list] * discounts[of.places[row].above] * log2_of_e;
      return highest > lowest ? gain : 0.0;
    });
  }
  struct Delta {
    MR_HD double operator()(const Row& i, const Row&) const { return i.level; }
  };
  template <class Group>
  MR_HD Delta delta(const Group&, int64_t, const RankedRows&, Span<Row>) const {
    return {};
  }
};

/// Pair weights of NDCG-Loss2 (LambdaLoss, Wang et al. 2018): mu |1/D(d) - 1/D(d + 1)| |G_i - G_j|, where d is the
/// distance of the two ranks, G the gain divided by the ideal DCG, and D(r) the divisor in DCG. NDCG-Loss2++
/// (`with_swaps`) adds |1/D(r_i) - 1/D(r_j)| |G_i - G_j|. The factor log2(e) makes the costs logarithms to base 2.
struct DistancePairs {
  struct Row {
    double level, inverse_rank, share, rank;
  };
  Span<const double> discounts;
  Span<const double> norms;
  double mu;
  bool with_swaps;

  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double>) const {
    of.fill(group, list, rows, [&](int64_t row) { return gain_of(of.relevance[row]) / norms[list] * log2_of_e; });
    const int64_t at = of.lists.begin(list);
    group.each(of.lists.size(list), [&](int64_t i) {
      const int64_t above = of.places[at + i].above;
      rows[at + i].share = discounts[above];
      rows[at + i].rank = static_cast<double>(above);
    });
  }
  struct Delta {
    Span<const double> discounts;
    double mu;
    bool with_swaps;
    MR_HD double operator()(const Row& i, const Row& j) const {
      const auto d = static_cast<int64_t>(std::fabs(i.rank - j.rank));
      const double far = mu * (discounts[d - 1] - discounts[d]);
      return (i.level - j.level) * (with_swaps ? far + std::fabs(i.share - j.share) : far);
    }
  };
  template <class Group>
  MR_HD Delta delta(const Group&, int64_t, const RankedRows&, Span<Row>) const {
    return {discounts, mu, with_swaps};
  }
};

/// Changes of a metric that a script declares by tables, if two rows swap ranks. The metric is the sum over rows of
/// gain times discount of the rank, divided by the list's norm. A pair weighs |gain_i - gain_j| |discount(r_i) -
/// discount(r_j)| / norm.
struct TableSwaps {
  struct Row {
    double level, inverse_rank, gain, share;
  };
  Span<const double> gains;      // per row
  Span<const double> discounts;  // discounts of the ranks 1, 1.5, 2, 2.5, ...
  Span<const double> norms;      // per list

  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double>) const {
    of.fill(group, list, rows, [&](int64_t row) { return static_cast<double>(of.relevance[row]); });
    const int64_t at = of.lists.begin(list);
    group.each(of.lists.size(list), [&](int64_t i) {
      rows[at + i].gain = gains[at + i];
      rows[at + i].share = discounts[2 * static_cast<int64_t>(of.places[at + i].above)] / norms[list];
    });
  }
  struct Delta {
    MR_HD double operator()(const Row& i, const Row& j) const {
      return std::fabs(i.gain - j.gain) * std::fabs(i.share - j.share);
    }
  };
  template <class Group>
  MR_HD Delta delta(const Group&, int64_t, const RankedRows&, Span<Row>) const {
    return {};
  }
};

}  // namespace mr
