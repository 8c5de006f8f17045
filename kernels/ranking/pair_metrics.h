// Exact metrics that count wrongly ordered pairs of rows, as expectations over the orders of tied rows: a pair within a
// run of tied rows counts one half.
#pragma once

#include "kernels/ranking/metric_views.h"

namespace mr {

/// nRBP loss: sum over relevant rows of (r - 1), minus P (P - 1) / 2. It equals the number of wrongly ordered pairs.
template <class Real>
struct NrbpLoss {
  MetricViews<Real> v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double total =
        v.sum_counted(group, list, [](const Placement& p, int64_t) { return p.above + 0.5 * (p.tied - 1.0); });
    const double relevant = v.count(list);
    v.put(group, list, relevant == 0 ? v.empty : total - 0.5 * relevant * (relevant - 1));
  }
};

/// Counts the wrongly ordered pairs of unequal grades: O(N^2) per list, the reference form.
template <class Real>
struct WrongPairs {
  MetricViews<Real> v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.lists.begin(list), n = v.lists.size(list);
    const double total = group.sum(n, [&](int64_t i) {
      double wrong = 0;
      for (int64_t j = 0; j < n; ++j) {
        if (!(v.relevance[at + j] < v.relevance[at + i])) continue;
        const int32_t own = v.places[at + i].above, other = v.places[at + j].above;
        wrong += other < own ? 1 : other == own ? 0.5 : 0;
      }
      return wrong;
    });
    v.put(group, list, v.count(list) == 0 ? v.empty : total);
  }
};

/// AUC: share of (relevant, other) pairs in the right order, with ties counting one half. NaN if all rows are relevant;
/// `empty` if none is.
template <class Real>
struct Auc {
  MetricViews<Real> v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double wrong = v.sum_counted(group, list, [](const Placement& p, int64_t) {
      return p.above - p.relevant_above + 0.5 * (p.tied - p.relevant_tied);
    });
    const double relevant = v.count(list), others = static_cast<double>(v.lists.size(list)) - relevant;
    v.put(group, list, relevant == 0 ? v.empty : 1 - wrong / (relevant * others));
  }
};

/// bpref (Buckley & Voorhees 2004, as in trec_eval): (1/P) sum over relevant rows of 1 - min(others above, P) / min(P,
/// N - P). If u irrelevant rows are tied with a relevant row, 0, 1, ... u of them are above it with equal probability.
template <class Real>
struct Bpref {
  MetricViews<Real> v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double relevant = v.count(list), others = static_cast<double>(v.lists.size(list)) - relevant;
    const double most = relevant < others ? relevant : others;
    const double total = v.sum_counted(group, list, [&](const Placement& p, int64_t) {
      if (others == 0) return 1.0;
      const double first = p.above - p.relevant_above, run = p.tied - p.relevant_tied;
      const double below_cap = relevant - first < 0 ? 0 : relevant - first > run + 1 ? run + 1 : relevant - first;
      const double sum = below_cap * first + 0.5 * below_cap * (below_cap - 1) + (run + 1 - below_cap) * relevant;
      return 1 - sum / (run + 1) / most;
    });
    v.put(group, list, relevant == 0 ? v.empty : total / relevant);
  }
};

}  // namespace mr
