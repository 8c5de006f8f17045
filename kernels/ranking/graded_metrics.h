// Exact metrics of grades, as expectations over the orders of tied rows. They read the rows' placements (order.h). D(r)
// is the sum of discounts over the first r ranks. Every grade above 0 counts, whatever the threshold for relevant rows.
#pragma once

#include "kernels/core/logarithms.h"
#include "kernels/ranking/discount.h"
#include "kernels/ranking/metric_views.h"

namespace mr {

/// DCG: sum of G(y) d(r) over ranks up to k. nDCG divides by `ideal`.
template <class Real>
struct Dcg {
  MetricViews<Real> v;
  Gain gain;
  Span<const double> discounts;
  Span<const double> ideal;
  bool normalized;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const double dcg = v.sum_counted(group, list, [&](const Placement& p, int64_t row) {
      const int64_t within = MetricViews<Real>::within(p, v.k);
      return within == 0
                 ? 0.0
                 : gain_of(v.relevance[row], gain) * (discounts[p.above + within] - discounts[p.above]) / p.tied;
    });
    const bool empty = ideal[list] == 0;
    v.put(group, list, empty ? v.empty : normalized ? dcg / ideal[list] : dcg);
  }
};

/// Expected reciprocal rank (Chapelle et al. 2009): sum over ranks r up to k of (1/r) R_r prod over s < r of (1 -
/// R_s). R = (2^y - 1) / 2^top is the probability that the user stops at a row of grade y, where `top` is the largest
/// grade. Within a run of tied rows, R_r times the product is (prod over s < r) - (prod over s <= r). So only the mean
/// product of j of the run's rows, drawn without replacement, is needed. `order` lists rows by rank, counted from 1.
template <class Real>
struct ExpectedReciprocalRank {
  MetricViews<Real> v;
  Span<const int64_t> order;
  double top;
  Span<double> scratch;  // scratch memory: four numbers per row, needed only if rows can be tied

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.lists.begin(list), n = v.lists.size(list);
    const float best = group.max(n, 0.0F, [&](int64_t i) { return v.relevance[at + i]; });
    const double whole = portable::exp2(top);
    double value = 0, left = 1;
    for (int64_t r = 0; r < n && r < v.k;) {
      const int64_t tied = v.places[order[at + r] - 1].tied;
      if (tied > 1) value += left * of_run(group, at, r, tied, whole);
      for (const int64_t end = r + tied; r < end; ++r) {
        const double satisfied = 1 - missed(at + r, whole);
        if (tied == 1) value += left * satisfied / static_cast<double>(r + 1);
        left *= 1 - satisfied;
      }
    }
    v.put(group, list, best > 0 ? value : v.empty);
  }

 private:
  /// Returns the factor 1 - R of a row's grade; `whole` is 2^top.
  MR_HD double missed(int64_t slot, double whole) const { return 1 - gain_of(v.relevance[order[slot] - 1]) / whole; }

  /// Returns what a run of t tied rows, which begins after r rows, adds to ERR (expected reciprocal rank), given that
  /// the user reaches the run.
  template <class Group>
  MR_HD double of_run(const Group& group, int64_t at, int64_t r, int64_t t, double whole) const {
    const int64_t last = v.k - r < t ? v.k - r : t;
    double* spare = scratch.data + 4 * at + t;
    double* products = scratch.data + 4 * at;
    const double largest =
        group.max(t, 0.0, [&](int64_t i) { return missed(at + r + i, whole) < 1 ? missed(at + r + i, whole) : 0; });
    // Products of more than `enough` factors are below 1e-30 and are skipped.
    const int64_t enough = largest > 0 ? 1 + static_cast<int64_t>(-69.1 / portable::log(largest)) : 1;
    const int64_t limit = enough < last ? enough : last;
    const int64_t graded = mean_products(group, at + r, t, limit, whole, products, spare);
    const int64_t most = graded < limit ? graded : limit;
    double* chance = scratch.data + 4 * at + 2 * t;
    double* next = scratch.data + 4 * at + 3 * t;
    group.each(most, [&](int64_t i) { chance[i] = 0; });
    // chance[i - 1] (`none` for i = 0): probability that i of the first j tied rows have a grade above 0
    double none = 1, before = 1, value = 0;
    for (int64_t j = 1; j <= last; ++j) {
      const auto remain = static_cast<double>(t - j + 1), others = static_cast<double>(t - graded - j + 1);
      group.each(most, [&](int64_t i) {
        const double fewer = i == 0 ? none : chance[i - 1];
        next[i] =
            (chance[i] * (others + static_cast<double>(i + 1)) + fewer * static_cast<double>(graded - i)) / remain;
      });
      none *= others / remain;
      const double product = none + group.sum(most, [&](int64_t i) { return next[i] * products[i]; });
      value += (before - product) / static_cast<double>(r + j);
      before = product;
      double* const was = chance;
      chance = next;
      next = was;
    }
    return value;
  }

  /// Computes products[i - 1] = the mean, over the sets of i graded rows among the t rows from `first` on, of the
  /// product of 1 - R, for i up to `limit`. Returns the number of graded rows.
  template <class Group>
  MR_HD int64_t mean_products(const Group& group, int64_t first, int64_t t, int64_t limit, double whole,
                              double*& products, double*& spare) const {
    int64_t m = 0;
    for (int64_t s = first; s < first + t; ++s) {
      const double miss = missed(s, whole);
      if (miss == 1) continue;
      ++m;
      group.each(m < limit ? m : limit, [&](int64_t i) {
        const double with = i == 0 ? 1 : products[i - 1], without = i + 1 < m ? products[i] : 0;
        spare[i] = (static_cast<double>(m - i - 1) * without + static_cast<double>(i + 1) * miss * with) /
                   static_cast<double>(m);
      });
      double* const was = products;
      products = spare;
      spare = was;
    }
    return m;
  }
};

}  // namespace mr
