// Exact metrics from placements, as expectations over the orders of tied rows. In a run of t rows below a others, a row
// is at each of the ranks a + 1 .. a + t with probability 1/t; given that a relevant row is at the j-th of them, each
// other of the run's rt - 1 relevant rows is above it with probability (j - 1) / (t - 1). D and H are sums of discounts
// and of 1/r over the first ranks.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/math/discount.h"
#include "kernels/math/order.h"

namespace mr {

/// What every metric reads and writes. k: ranks that count (the whole list: a number that no list reaches). `empty`:
/// value without relevant rows.
template <class Real>
struct MetricViews {
  Span<const Placement> places;
  Ragged lists;
  Span<const float> relevance;
  float threshold;
  int64_t k;
  double empty;
  Span<Real> out;

  MR_HD bool relevant(int64_t row) const { return relevance[row] >= threshold; }

  /// Sum of f(placement, row) over the relevant rows of the list.
  template <class Group, class F>
  MR_HD double sum_relevant(const Group& group, int64_t list, F f) const {
    const int64_t at = lists.begin(list);
    return group.sum(lists.size(list), [&](int64_t i) { return relevant(at + i) ? f(places[at + i], at + i) : 0.0; });
  }
  template <class Group>
  MR_HD double count_relevant(const Group& group, int64_t list) const {
    return sum_relevant(group, list, [](const Placement&, int64_t) { return 1.0; });
  }
  template <class Group>
  MR_HD void put(const Group& group, int64_t list, double value) const {
    group.each(1, [&](int64_t) { out[list] = static_cast<Real>(value); });
  }

  /// How many of the row's run lie within the first `ranks` ranks.
  MR_HD static int64_t within(const Placement& p, int64_t ranks) {
    const int64_t room = ranks - p.above;
    return room < 0 ? 0 : room < p.tied ? room : p.tied;
  }
};

/// sum G(y) d(r) over ranks up to k, over `ideal` where there is one. Rows with gain count, whatever the threshold.
template <class Real>
struct Dcg {
  MetricViews<Real> v;
  Gain gain;
  Span<const double> discounts;
  Span<const double> ideal;
  bool normalized;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.lists.begin(list);
    const double dcg = group.sum(v.lists.size(list), [&](int64_t i) {
      const Placement& p = v.places[at + i];
      const int64_t within = MetricViews<Real>::within(p, v.k);
      return within == 0
                 ? 0.0
                 : gain_of(v.relevance[at + i], gain) * (discounts[p.above + within] - discounts[p.above]) / p.tied;
    });
    const bool empty = ideal[list] == 0;
    v.put(group, list, empty ? v.empty : normalized ? dcg / ideal[list] : dcg);
  }
};

/// (1/P) sum over relevant rows of precision at their rank; over min(P, k) where `by_cutoff`.
template <class Real>
struct AveragePrecision {
  MetricViews<Real> v;
  Span<const double> harmonic;
  bool by_cutoff;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double total = v.sum_relevant(group, list, [&](const Placement& p, int64_t) {
      const int64_t within = MetricViews<Real>::within(p, v.k);
      if (within == 0) return 0.0;
      const double share = p.tied > 1 ? (p.relevant_tied - 1.0) / (p.tied - 1.0) : 0;
      const double rest = p.relevant_above + 1 - share * (p.above + 1.0);
      return (share * static_cast<double>(within) + rest * (harmonic[p.above + within] - harmonic[p.above])) / p.tied;
    });
    const double relevant = v.count_relevant(group, list);
    const double most = by_cutoff && relevant > static_cast<double>(v.k) ? static_cast<double>(v.k) : relevant;
    v.put(group, list, relevant == 0 ? v.empty : total / most);
  }
};

/// (1 - p) sum over relevant rows of p^(r - 1), over 1 - p^P where normalized.
template <class Real>
struct RankBiasedPrecision {
  MetricViews<Real> v;
  double persistence;
  bool normalized;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double total = v.sum_relevant(group, list, [&](const Placement& p, int64_t) {
      const auto within = static_cast<double>(MetricViews<Real>::within(p, v.k));
      return std::pow(persistence, static_cast<double>(p.above)) * (1 - std::pow(persistence, within)) / p.tied;
    });
    const double relevant = v.count_relevant(group, list);
    v.put(group, list, relevant == 0 ? v.empty : normalized ? total / (1 - std::pow(persistence, relevant)) : total);
  }
};

/// sum over relevant rows of (r - 1), less P (P - 1) / 2: wrongly ordered pairs.
template <class Real>
struct NrbpLoss {
  MetricViews<Real> v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double total =
        v.sum_relevant(group, list, [](const Placement& p, int64_t) { return p.above + 0.5 * (p.tied - 1.0); });
    const double relevant = v.count_relevant(group, list);
    v.put(group, list, relevant == 0 ? v.empty : total - 0.5 * relevant * (relevant - 1));
  }
};

/// Relevant rows within the first k, over k, over P, or over the smaller; k = 0: over the first P.
template <class Real>
struct HitsAt {
  MetricViews<Real> v;
  enum Over : int8_t { cutoff, relevant_rows } over;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double relevant = v.count_relevant(group, list);
    const int64_t k = v.k == 0 ? static_cast<int64_t>(relevant) : v.k;
    const double hits = v.sum_relevant(group, list, [&](const Placement& p, int64_t) {
      return static_cast<double>(MetricViews<Real>::within(p, k)) / p.tied;
    });
    v.put(group, list, relevant == 0 ? v.empty : hits / (over == cutoff ? static_cast<double>(k) : relevant));
  }
};

/// The first relevant row: 1 / its rank if within k (reciprocal), or 1 if within k (hit). In its run of t rows with rt
/// relevant, the first of those is at the j-th place with probability q_1 = rt / t, q_{j+1} = q_j (t - rt - j + 1) / (t
/// - j).
template <class Real>
struct FirstRelevant {
  MetricViews<Real> v;
  bool reciprocal;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.lists.begin(list);
    // of relevant rows with none above: at most one run; packed so that one maximum finds it
    const int64_t found = group.max(v.lists.size(list), int64_t{-1}, [&](int64_t i) {
      return v.relevant(at + i) && v.places[at + i].relevant_above == 0 ? i : int64_t{-1};
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

/// Share of (relevant, other) pairs in the right order, ties counting half; NaN where there are no such pairs.
template <class Real>
struct Auc {
  MetricViews<Real> v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double wrong = v.sum_relevant(group, list, [](const Placement& p, int64_t) {
      return p.above - p.relevant_above + 0.5 * (p.tied - p.relevant_tied);
    });
    const double relevant = v.count_relevant(group, list), others = static_cast<double>(v.lists.size(list)) - relevant;
    v.put(group, list, relevant == 0 ? v.empty : 1 - wrong / (relevant * others));
  }
};

/// bpref (Buckley & Voorhees 2004, as in trec_eval): (1/P) sum over relevant rows of 1 - min(others above, P) / min(P,
/// N - P). Of u others in a run, a relevant row has 0, 1, ... u above it with equal probability.
template <class Real>
struct Bpref {
  MetricViews<Real> v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double relevant = v.count_relevant(group, list), others = static_cast<double>(v.lists.size(list)) - relevant;
    const double most = relevant < others ? relevant : others;
    const double total = v.sum_relevant(group, list, [&](const Placement& p, int64_t) {
      if (others == 0) return 1.0;
      const double first = p.above - p.relevant_above, run = p.tied - p.relevant_tied;
      const double below_cap = relevant - first < 0 ? 0 : relevant - first > run + 1 ? run + 1 : relevant - first;
      const double sum = below_cap * first + 0.5 * below_cap * (below_cap - 1) + (run + 1 - below_cap) * relevant;
      return 1 - sum / (run + 1) / most;
    });
    v.put(group, list, relevant == 0 ? v.empty : total / relevant);
  }
};

/// Expected reciprocal rank (Chapelle et al. 2009): sum over ranks up to k of 1/r R_r prod over s < r of (1 - R_s), R =
/// (2^y - 1) / 2^top. Needs an order.
template <class Real>
struct ExpectedReciprocalRank {
  MetricViews<Real> v;
  Span<const int64_t> order;
  double top;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.lists.begin(list), n = v.lists.size(list);
    const double relevant = v.count_relevant(group, list);
    double value = 0, left = 1;
    for (int64_t r = 0; r < n && r < v.k; ++r) {
      const double satisfied = gain_of(v.relevance[order[at + r] - 1]) / std::exp2(top);
      value += left * satisfied / static_cast<double>(r + 1);
      left *= 1 - satisfied;
    }
    v.put(group, list, relevant == 0 ? v.empty : value);
  }
};

}  // namespace mr
