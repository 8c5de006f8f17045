// Exact metrics of binary relevance, as expectations over the orders of tied rows. They read the rows' placements
// (order.h). In a run of t tied rows with a rows above it, a row is at each of the ranks a + 1 .. a + t with
// probability 1/t. Given that a relevant row is at the j-th of these ranks, each of the run's other rt - 1 relevant
// rows is above it with probability (j - 1) / (t - 1). H(r) is the sum of 1 / rank over the first r ranks.
#pragma once

#include "kernels/core/powers.h"
#include "kernels/ranking/metric_views.h"

namespace mr {

/// AP: (1/P) sum over relevant rows of the precision at their rank. It is divided by min(P, k) instead of P if
/// `by_cutoff`.
template <class Real>
struct AveragePrecision {
  MetricViews<Real> v;
  Span<const double> harmonic;
  bool by_cutoff;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double total = v.sum_counted(group, list, [&](const Placement& p, int64_t) {
      const int64_t within = MetricViews<Real>::within(p, v.k);
      if (within == 0) return 0.0;
      const double share = p.tied > 1 ? (p.relevant_tied - 1.0) / (p.tied - 1.0) : 0;
      const double rest = p.relevant_above + 1 - share * (p.above + 1.0);
      return (share * static_cast<double>(within) + rest * (harmonic[p.above + within] - harmonic[p.above])) / p.tied;
    });
    const double relevant = v.count(list);
    const double most = by_cutoff && relevant > static_cast<double>(v.k) ? static_cast<double>(v.k) : relevant;
    v.put(group, list, relevant == 0 ? v.empty : total / most);
  }
};

/// RBP: (1 - p) sum over relevant rows of p^(r - 1). nRBP divides by 1 - p^P (`normalized`).
template <class Real>
struct RankBiasedPrecision {
  MetricViews<Real> v;
  double persistence;
  bool normalized;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const portable::Base base = portable::base_of(persistence);
    const double total = v.sum_counted(group, list, [&](const Placement& p, int64_t) {
      const int64_t within = MetricViews<Real>::within(p, v.k);
      const double after = within == 1 ? persistence : portable::power(base, static_cast<double>(within));
      return portable::power(base, static_cast<double>(p.above)) * (1 - after) / p.tied;
    });
    const double relevant = v.count(list);
    v.put(group, list, relevant == 0 ? v.empty : normalized ? total / (1 - portable::power(base, relevant)) : total);
  }
};

/// The number of relevant rows within the first k ranks, divided by k (precision), by P (recall), or by the mean of k
/// and P (F1, the harmonic mean of precision and recall); k = 0 stands for P.
template <class Real>
struct HitsAt {
  MetricViews<Real> v;
  enum Over : int8_t { cutoff, relevant_rows, both } over;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double relevant = v.count(list);
    const int64_t k = v.k == 0 ? static_cast<int64_t>(relevant) : v.k;
    const double hits = v.sum_counted(group, list, [&](const Placement& p, int64_t) {
      return static_cast<double>(MetricViews<Real>::within(p, k)) / p.tied;
    });
    const double cut = static_cast<double>(k), most = over == cutoff ? cut
                                                      : over == both ? 0.5 * (cut + relevant)
                                                                     : relevant;
    v.put(group, list, relevant == 0 ? v.empty : hits / most);
  }
};

/// The first relevant row's value: 1 / rank (reciprocal) or 1 (hit) if its rank is within k, else 0. In its run of t
/// tied rows with rt relevant, the first relevant one is the j-th with probability q_1 = rt / t, q_{j+1} = q_j (t - rt
/// - j + 1) / (t - j).
template <class Real>
struct FirstRelevant {
  MetricViews<Real> v;
  bool reciprocal;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.lists.begin(list);
    // All relevant rows that have no relevant row above them are tied with each other. `found` is one of them, the one
    // with the largest row number; its placement describes the whole run of tied rows.
    const int64_t found = group.max(v.counted.size(list), int64_t{-1}, [&](int64_t slot) {
      const int64_t i = v.counted(list, slot);
      return v.places[at + i].relevant_above == 0 ? i : int64_t{-1};
    });
    double value = v.empty;
    if (found >= 0) {
      const Placement p = v.places[at + found];
      value = 0;
      double q = static_cast<double>(p.relevant_tied) / p.tied;
      for (int64_t j = 1; j <= MetricViews<Real>::within(p, v.k); ++j) {
        value += reciprocal ? q / static_cast<double>(p.above + j) : q;
        const double left = static_cast<double>(p.tied - j);
        q = left > 0 ? q * static_cast<double>(p.tied - p.relevant_tied - j + 1) / left : 0;
      }
    }
    v.put(group, list, value);
  }
};

}  // namespace mr
