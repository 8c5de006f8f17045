// Smooth ranks (Westerborg 2022, Eq. 2.9): R_i = 1 + sum over j != i of sigma(a (s_j - s_i)), for target rows i over
// source rows j. If the sources are all rows, this is the rank; if they are the relevant rows, it is the rank among the
// relevant rows, A_i. Letters: s score, a steepness of the sigmoid, k(t) = sigma(t) sigma(-t) its derivative, g_i =
// dM/dR_i, h_i = dM/dA_i.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// Returns steepness (s_j - s_i). Equal scores give 0, also infinite ones, whose difference would be NaN.
template <class Real>
MR_HD Real score_difference(Real s_j, Real s_i, Real steepness) {
  return s_j == s_i ? Real(0) : steepness * (s_j - s_i);
}

/// Returns the derivative of the sigmoid: k(t) = sigma(t) sigma(-t).
template <class Real>
MR_HD Real logistic_kernel(Real t) {
  const Real e = portable::exp(-std::fabs(t));
  return e / ((1 + e) * (1 + e));
}

/// Computes ranks[slot] for every target (row ranked) and, if `among` is given, among[slot]: A, its rank among the
/// targets. A list takes O(targets x sources), where sources are the rows summed over. `longest` is an upper bound of
/// the rows of the longest list, by which a backend chooses its algorithm.
template <class Real>
struct SmoothRank {
  Span<const Real> scores;
  Ragged lists;
  Chosen targets, sources;
  Real steepness;
  Span<Real> ranks, among = {};
  int64_t longest = 0;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t first = targets.begin(list);
    group.each(targets.size(list), [&](int64_t slot) {
      ranks[first + slot] = static_cast<Real>(rank_over(sources, list, targets(list, slot)));
      if (among.data != nullptr) among[first + slot] = static_cast<Real>(rank_over(targets, list, targets(list, slot)));
    });
  }

  MR_HD double rank_over(const Chosen& rows, int64_t list, int64_t i) const {
    const Real* const s = scores.data + lists.begin(list);
    const int64_t n = rows.size(list);
    double rank = 1;
    for (int64_t row = 0; row < n; ++row) {
      const int64_t j = rows(list, row);
      if (j != i) rank += sigmoid(score_difference(s[j], s[i], steepness));
    }
    return rank;
  }
};

/// Computes the derivative of a metric M by every score, given g_i = dM/dR_i and h_i = dM/dA_i at the targets i (rows
/// ranked). R_i is the smooth rank and A_i the rank among the targets; h is null if M does not use A. With steepness a,
/// sigmoid derivative k, and b_k = 1 for targets and 0 for other rows: dM/ds_k = a [ sum_i g_i k(s_k - s_i) - g_k sum_j
/// k(s_j - s_k) + b_k sum_i h_i k(s_k - s_i) - h_k sum_j b_j k(s_j - s_k) ].
template <class Real>
struct SmoothRankVjp {
  Span<const Real> scores;
  Ragged lists;
  Chosen targets;
  Real steepness;
  Span<const Real> g, h;
  Span<Real> out;
  int64_t longest = 0;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list), first = targets.begin(list), p = targets.size(list);
    const Real* const s = scores.data + at;
    group.each(n, [&](int64_t k) {
      double total = 0;
      for (int64_t slot = 0; slot < p; ++slot) {
        total += g[first + slot] * logistic_kernel(score_difference(s[k], s[targets(list, slot)], steepness));
      }
      out[at + k] = static_cast<Real>(steepness * total);
    });
    group.each(p, [&](int64_t slot) {
      const int64_t k = targets(list, slot);
      double total = 0;
      for (int64_t j = 0; j < n; ++j)
        total -= g[first + slot] * logistic_kernel(score_difference(s[j], s[k], steepness));
      for (int64_t other = 0; h.data != nullptr && other < p; ++other) {
        const Real kernel = logistic_kernel(score_difference(s[targets(list, other)], s[k], steepness));
        total += (h[first + other] - h[first + slot]) * kernel;
      }
      out[at + k] += static_cast<Real>(steepness * total);
    });
  }
};

}  // namespace mr
