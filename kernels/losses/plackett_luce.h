// Losses of random rankings. In Plackett and Luce's model (Plackett 1975, Luce 1959) the row at rank k is drawn from
// the rows that are left, with probability proportional to e^score. Sorting rows by score + Gumbel noise draws such a
// ranking. Two estimates of the derivative of a mean over rankings come from a sampled ranking y, with
// D_k = sum of e^score over the rows from rank k on:
//
// - Log derivative, for every metric: the value of y times d log P(y) / df_i, which is
//   [i is placed] - e^f_i sum_{k <= rank of i} 1 / D_k. Subtracting a baseline from the value lowers the variance.
// - PL-Rank-3 (Oosterhuis, SIGIR 2022, Algorithm 1), for sums over rows of gain g_i times discount d(rank). With
//   T_k = sum of d(m) g over the ranks m >= k:
//   T_(rank of i + 1) + e^f_i (g_i sum_{k <= rank of i} d(k) / D_k - sum_{k <= rank of i} T_k / D_k).
//
// Both end at the last rank that counts: rows below it get the sum over all ranks that count. With p_k = e^f / D_k for
// the row at rank k, sums that are multiplied by D_k follow u_k = c_k + (1 - p_(k - 1)) u_(k - 1). No exponential of a
// score itself is computed, so nothing overflows. All rankings of a list share the powers e^(f - largest f), unless
// some of them would be too small to add up. Time O(N) per sorted ranking; memory O(N) per ranking.
//
// Arrays of several rankings hold copy after copy of the batch: entry s * rows + i belongs to row i in ranking s.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/rng.h"
#include "kernels/core/view.h"
#include "kernels/losses/listwise.h"

namespace mr {

/// Computes score plus Gumbel noise, relative to the largest score of the list. Noise depends on (key, number of the
/// row in the whole batch, number of the ranking). One call per list and pair of rankings, because Philox gives two
/// numbers.
template <class Real>
struct RandomKeys {
  Span<const Real> scores;
  Ragged lists;
  RandomKey key;
  int64_t rows_before;      // number of rows in earlier parts of the batch, if the batch is computed in parts
  int64_t first, rankings;  // number of the first ranking to draw, which is even, and how many rankings to draw
  Span<double> out;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t task) const {
    const int64_t list = task % lists.count, ranking = task / lists.count * 2;
    const int64_t at = lists.begin(list), n = lists.size(list), rows = scores.size;
    const double top = group.max(n, -HUGE_VAL, [&](int64_t i) { return static_cast<double>(scores[at + i]); });
    group.each(n, [&](int64_t i) {
      const Random128 bits =
          philox(key, static_cast<uint64_t>(rows_before + at + i), static_cast<uint64_t>((first + ranking) / 2));
      const double score = difference(static_cast<double>(scores[at + i]), top);
      double* const own = out.data + ranking * rows + at + i;
      own[0] = score + gumbel(bits.low());
      if (ranking + 1 < rankings) own[rows] = score + gumbel(bits.high());
    });
  }

 private:
  static MR_HD double gumbel(uint64_t bits) {
    const double u = (static_cast<double>(bits >> 12) + 0.5) * 0x1p-52;  // in (0, 1)
    return -portable::log(-portable::log(u));
  }
};

/// Computes the powers e^(f - largest f) of the rows of each list. It also writes 1 for each list whose powers are all
/// large enough that sums of the smallest ones are exact to rounding, else 0.
template <class Real>
struct ScorePowers {
  Span<const Real> scores;
  Ragged lists;
  Span<double> powers, near;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    constexpr double most = 300;
    const int64_t at = lists.begin(list), n = lists.size(list);
    const double top = group.max(n, -HUGE_VAL, [&](int64_t i) { return static_cast<double>(scores[at + i]); });
    const double below = group.max(n, -HUGE_VAL, [&](int64_t i) { return -static_cast<double>(scores[at + i]); });
    group.each(
        n, [&](int64_t i) { powers[at + i] = portable::exp(difference(static_cast<double>(scores[at + i]), top)); });
    // the sum is NaN if all scores are infinite, and then near[list] is 0
    group.each(1, [&](int64_t) { near[list] = top + below < most ? 1 : 0; });
  }
};

/// Computes, for every row, the estimate of the derivative by its score from one sampled ranking. With `gains` it is
/// PL-Rank-3 for the metric weight * sum of gain * discount; without, the derivative of the log probability of the
/// ranking. `order` has the row numbers by rank, counted from 1 over all rankings; numbers out of range are clamped.
/// `ranks` has, per list, how many of the first ranks count. `shares` is spare memory.
template <class Real>
struct RankingSlopes {
  Span<const Real> scores;
  Ragged lists;
  Span<const int64_t> order, ranks;
  Span<const double> gains, discounts, weights, powers, near;
  Span<double> shares, out;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t ranking) const {
    // Goes through each ranking by one lane only, because the sums at a rank need those of the rank before.
    group.each(1, [&](int64_t) { of_ranking(ranking / lists.count, ranking % lists.count); });
  }

 private:
  struct Sum {
    double top, total;  // a sum of exponentials, stored as total * e^top to avoid overflow
  };

  MR_HD void of_ranking(int64_t copy, int64_t list) const {
    const int64_t start = copy * scores.size, at = start + lists.begin(list), last = ranks_of(list);
    const double weight = gains.data != nullptr ? weights[list] : 1;
    const bool is_near = near[list] != 0;
    const Sum below = from_the_last(is_near, start, at, lists.size(list), last, weight);
    // above: sum over the ranks k so far of T_k / D_k (1 / D_k without gains); of_own: sum of d(k) / D_k. T, D and d
    // are those of PL-Rank-3; both sums are multiplied by the current D_k.
    double above = 0, of_own = 0;
    for (int64_t k = 0; k < last; ++k) {
      const int64_t row = row_at(start, at + k);
      const double share = shares[at + k], left = k > 0 ? 1 - shares[at + k - 1] : 0;
      const double discount = gains.data != nullptr ? weight * discounts[k] : 0;
      const double gain = gains.data != nullptr ? gains[row - start] : 0;
      above = left * above + (gains.data != nullptr ? out[row] + discount * gain : 1);
      of_own = left * of_own + discount;
      out[row] += share * (gain * of_own - above);
    }
    for (int64_t k = last; k < lists.size(list); ++k) {
      const int64_t row = row_at(start, at + k);
      const double share = last > 0 ? power(is_near, row - start, below.top) / below.total : 0;
      const double gain = gains.data != nullptr ? gains[row - start] : 0;
      out[row] = share * (gain * of_own - above);
    }
  }

  MR_HD int64_t ranks_of(int64_t list) const {
    const int64_t n = lists.size(list), most = gains.data != nullptr && discounts.size < n ? discounts.size : n;
    return ranks[list] < 0 ? 0 : ranks[list] < most ? ranks[list] : most;
  }
  /// Returns the row number at position `place` of `order`. Arrays hold one copy of the batch per ranking; the number
  /// is clamped to the rows of the copy that begins at `start`.
  MR_HD int64_t row_at(int64_t start, int64_t place) const {
    const int64_t row = order[place] - 1, end = start + scores.size;
    return row < start ? start : row < end ? row : end - 1;
  }

  /// Returns e^(score - top) for a row. If `is_near`, reads the stored power, which is relative to the list's largest
  /// score; otherwise computes it relative to the argument `top`.
  MR_HD double power(bool is_near, int64_t row, double top) const {
    return is_near ? powers[row] : portable::exp(difference(static_cast<double>(scores[row]), top));
  }

  /// Goes through a ranking from the last rank to the first. Sets `shares` to p_k (the probability that the row at
  /// rank k is drawn from the rows from k on) and `out` to T of rank k + 1, the sum of discount times gain over the
  /// ranks after k (without gains: to 1). Returns D, the sum of e^score over the remaining rows, at the last rank that
  /// counts.
  MR_HD Sum from_the_last(bool is_near, int64_t start, int64_t at, int64_t n, int64_t last, double weight) const {
    Sum sum{-HUGE_VAL, 0}, below = sum;
    double rest = 0;
    for (int64_t k = n - 1; k >= 0; --k) {
      const int64_t row = row_at(start, at + k);
      if (!is_near && scores[row - start] > sum.top) {
        sum.total *= portable::exp(sum.top - static_cast<double>(scores[row - start]));
        sum.top = scores[row - start];
      }
      const double own = power(is_near, row - start, sum.top);
      sum.total += own;
      if (k >= last) continue;
      if (k == last - 1) below = sum;
      shares[at + k] = own / sum.total;
      out[row] = gains.data != nullptr ? rest : 1;
      if (gains.data != nullptr) rest += weight * discounts[k] * gains[row - start];
    }
    return below;
  }
};

/// Adds up sampled rankings, in their order, on top of the sums over earlier rankings. `value` gets the sum of the
/// values per list, `plain` the sum of the estimates per row, and `weighted`, unless it is null, the sum of value
/// times estimate per row.
template <class Real>
struct SumOfRankings {
  Span<const double> values, slopes;
  Ragged lists;
  int64_t rankings;
  Span<double> value, plain, weighted;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list);
    group.each(lists.size(list), [&](int64_t i) {
      double sum = plain[at + i], times_value = weighted.data != nullptr ? weighted[at + i] : 0;
      for (int64_t s = 0; s < rankings; ++s) {
        const double slope = slopes[s * plain.size + at + i];
        sum += slope;
        times_value += values[s * lists.count + list] * slope;
      }
      plain[at + i] = sum;
      if (weighted.data != nullptr) weighted[at + i] = times_value;
    });
    group.each(1, [&](int64_t) {
      for (int64_t s = 0; s < rankings; ++s) value[list] += values[s * lists.count + list];
    });
  }
};

}  // namespace mr
