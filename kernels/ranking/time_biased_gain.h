// Time-biased gain (Smucker & Clarke 2012): a user reads the ranking from the top and loses interest over time, with a
// given half-life. Reading a relevant row takes longer than reading another row. So a row's gain is multiplied by
// `relevant` for every relevant row above it and by `other` for every other row above it.
#pragma once

#include <cmath>

#include "kernels/core/powers.h"
#include "kernels/ranking/metric_views.h"
#include "kernels/ranking/swaps.h"

namespace mr {

/// Parameters of time-biased gain: the share of interest that remains after a relevant row and after another row, and
/// the gain of a relevant row.
struct TimeBias {
  portable::Base relevant, other;
  double gain;
  /// Returns the remaining interest at a row with the given numbers of relevant and other rows above it.
  MR_HD double left(int64_t relevant_above, int64_t others_above) const {
    return portable::power(relevant, static_cast<double>(relevant_above)) *
           portable::power(other, static_cast<double>(others_above));
  }
};

/// Computes the expectation over the orders of tied rows. In a run of m relevant rows and n others, each relevant row
/// has the expected interest: integral over x from 0 to 1 of (1 - (1 - a) x)^(m - 1) (1 - (1 - b) x)^n, with a =
/// relevant, b = other. At position x, every other row of the run is above it with probability x.
template <class Real>
struct TimeBiasedGain {
  MetricViews<Real> v;
  TimeBias bias;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.lists.begin(list);
    const double total = group.sum(v.lists.size(list), [&](int64_t i) {
      const Placement& p = v.places[at + i];
      if (p.before > 0 || p.relevant_tied == 0) return 0.0;  // a run of tied rows is evaluated once, at its first row
      return bias.left(p.relevant_above, p.above - p.relevant_above) * p.relevant_tied *
             over_run(p.relevant_tied - 1, p.tied - p.relevant_tied);
    });
    v.put(group, list, v.count(list) == 0 ? v.empty : bias.gain * total);
  }

 private:
  /// Returns the integral over a run of tied rows, with powers m and n, by parts: I(m, n) = (1 - a^m b^(n+1) - m (alpha
  /// - beta) I(m - 1, n)) / ((m + n + 1) beta), with alpha = 1 - a >= beta = 1 - b. The recurrence damps errors where
  /// alpha < 2 beta.
  MR_HD double over_run(int64_t m, int64_t n) const {
    const double alpha = 1 - bias.relevant.x, beta = 1 - bias.other.x;
    double power = portable::power(bias.other, static_cast<double>(n + 1));
    double integral = (1 - power) / (static_cast<double>(n + 1) * beta);
    for (int64_t k = 1; k <= m; ++k) {
      power *= bias.relevant.x;
      const auto j = static_cast<double>(k);
      integral = (1 - power - j * (alpha - beta) * integral) / ((j + static_cast<double>(n) + 1) * beta);
    }
    return integral;
  }
};

/// Computes the change of time-biased gain if a relevant row i at rank r and another row j at rank q swap ranks. The
/// term of row i moves from rank r to rank q. For each relevant row between these ranks, one of the rows above it
/// changes from relevant to not relevant if i was above, or the reverse if i was below.
struct TimeBiasSwaps {
  struct Row {
    double level, share, inverse_rank;  // share: interest that remains when the user reaches the row
    double brought;                     // brought: sum of the shares of all relevant rows above this row
  };
  TimeBias bias;

  template <class Group>
  MR_HD void fill(const Group& group, int64_t list, const RankedRows& of, Span<Row> rows, Span<double> sums) const {
    of.fill(group, list, rows, [](int64_t) { return 1.0; });
    const auto left = [&](int64_t row) {
      const Placement& p = of.places[row];
      return bias.left(p.relevant_above, p.above - p.relevant_above);
    };
    of.sum_by_rank(group, list, sums, left);
    const int64_t at = of.lists.begin(list);
    group.each(of.lists.size(list), [&](int64_t i) {
      rows[at + i].share = left(at + i);
      rows[at + i].brought = of.sum_above(list, at + i, sums);
    });
  }
  struct Delta {
    // fall: factor by which the remaining interest changes if a relevant row above is replaced by another row; rise:
    // the reverse
    double gain, fall, rise;
    MR_HD double operator()(const Row& i, const Row& j) const {
      if (i.inverse_rank > j.inverse_rank) {
        const double between = j.brought - i.brought - i.share;
        return gain * std::fabs(i.share - j.share * fall - between * (fall - 1));
      }
      return gain * std::fabs(j.share - i.share + (i.brought - j.brought) * (rise - 1));
    }
  };
  template <class Group>
  MR_HD Delta delta(const Group&, int64_t, const RankedRows&, Span<Row>) const {
    return {bias.gain, bias.other.x / bias.relevant.x, bias.relevant.x / bias.other.x};
  }
};

}  // namespace mr
