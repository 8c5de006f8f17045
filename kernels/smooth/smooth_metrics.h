// Smooth nDCG, AP and nRBP loss, computed from smooth ranks R and smooth ranks among the relevant rows A (Westerborg
// 2022, Eqs. 2.10 to 2.12). For the derivative of a metric M, row i gets g_i = dM/dR_i and h_i = dM/dA_i, times the
// upstream derivative of the list's value. Targets, the rows whose ranks count, are the relevant rows (for nDCG the
// rows with a gain above 0). A list without targets has value 0 and derivative 0.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/ranking/discount.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// Input and output of every smooth metric. If `upstream` is null, the kernel writes the metric of each list to
/// `value`. Otherwise it writes the derivatives by the ranks and by the ranks among the relevant rows to g and h.
template <class Real>
struct SmoothMetricViews {
  Chosen targets;
  Span<const Real> rank, rank_among_relevant;
  Span<const Real> upstream;
  Span<Real> value, g, h;
};

/// Smooth nDCG: sum_i G_i d(R_i) / IDCG, with gain G, discount d and smooth rank R. The forward pass stores G_i d'(R_i)
/// in `slope` (unless null) for the backward pass, because the logarithm is the most expensive part of both.
template <class Real>
struct SmoothNdcg {
  SmoothMetricViews<Real> v;
  Span<const float> relevance;
  Ragged lists;
  Span<const double> ideal;
  Span<double> slope;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.targets.begin(list), p = v.targets.size(list);
    const float* const y = relevance.data + lists.begin(list);
    if (v.upstream.data == nullptr) {
      const double dcg = group.sum(p, [&](int64_t i) {
        const double gain = gain_of(y[v.targets(list, i)]);
        const SlopedDiscount discount = sloped_discount(v.rank[at + i]);
        if (slope.data != nullptr) slope[at + i] = gain * discount.slope;
        return gain * discount.value;
      });
      group.each(1, [&](int64_t) { v.value[list] = static_cast<Real>(p > 0 ? dcg / ideal[list] : 0); });
      return;
    }
    group.each(p, [&](int64_t i) { v.g[at + i] = static_cast<Real>(v.upstream[list] * slope[at + i] / ideal[list]); });
  }
};

/// Smooth AP: (1/P) sum_i A_i / R_i over the P relevant rows i. R_i is the smooth rank, A_i the smooth rank among the
/// relevant rows.
template <class Real>
struct SmoothAp {
  SmoothMetricViews<Real> v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.targets.begin(list), p = v.targets.size(list);
    if (v.upstream.data == nullptr) {
      const double total =
          group.sum(p, [&](int64_t i) { return static_cast<double>(v.rank_among_relevant[at + i]) / v.rank[at + i]; });
      group.each(1, [&](int64_t) { v.value[list] = static_cast<Real>(p > 0 ? total / static_cast<double>(p) : 0); });
      return;
    }
    const double share = v.upstream[list] / static_cast<double>(p);
    group.each(p, [&](int64_t i) {
      const double r = v.rank[at + i], a = v.rank_among_relevant[at + i];
      v.g[at + i] = static_cast<Real>(-share * a / (r * r));
      v.h[at + i] = static_cast<Real>(share / r);
    });
  }
};

/// Smooth nRBP loss: sum_i (R_i - 1) - P (P - 1) / 2 over the P relevant rows i, with R_i the smooth rank. It is the
/// smooth number of pairs in which an irrelevant row is above a relevant one.
template <class Real>
struct SmoothNrbpLoss {
  SmoothMetricViews<Real> v;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.targets.begin(list), p = v.targets.size(list);
    if (v.upstream.data == nullptr) {
      const double total = group.sum(p, [&](int64_t i) { return static_cast<double>(v.rank[at + i]) - 1; });
      const double pairs = 0.5 * static_cast<double>(p) * static_cast<double>(p - 1);
      group.each(1, [&](int64_t) { v.value[list] = static_cast<Real>(total - pairs); });
      return;
    }
    group.each(p, [&](int64_t i) { v.g[at + i] = v.upstream[list]; });
  }
};

}  // namespace mr
