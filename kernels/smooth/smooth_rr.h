// Smooth RR (Li et al. 2021, Eq. 16) and its logarithm from smooth ranks R, and their derivatives. Targets are the
// relevant rows.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/view.h"
#include "kernels/smooth/smooth_metrics.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// T_i = 1/R_i prod over relevant j != i of (1 - sigma(a (s_j - s_i))), each factor computed as sigma(a (s_i - s_j)),
/// which is accurate where it is small. Below the least double a product is 0.
template <class Real>
struct SmoothRrTerms {
  Span<const Real> scores;
  Ragged lists;
  Chosen targets;
  Real gain;
  Span<const Real> rank;
  Span<Real> terms;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = targets.begin(list), p = targets.size(list);
    const Real* const s = scores.data + lists.begin(list);
    group.each(p, [&](int64_t i) {
      double term = 1 / static_cast<double>(rank[at + i]);
      for (int64_t j = 0; j < p; ++j) {
        if (j != i) {
          term *= sigmoid(static_cast<double>(score_difference(s[targets(list, i)], s[targets(list, j)], gain)));
        }
      }
      terms[at + i] = static_cast<Real>(term);
    });
  }
};

/// sum_i T_i, with g_i = -T_i / R_i.
template <class Real>
struct SmoothRr {
  SmoothMetricViews<Real> v;
  Span<const Real> terms;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.targets.begin(list), p = v.targets.size(list);
    if (v.upstream.data == nullptr) {
      const double total = group.sum(p, [&](int64_t i) { return terms[at + i]; });
      group.each(1, [&](int64_t) { v.value[list] = static_cast<Real>(total); });
      return;
    }
    group.each(p, [&](int64_t i) { v.g[at + i] = -v.upstream[list] * terms[at + i] / v.rank[at + i]; });
  }
};

/// log of RR: its terms as shares of their sum, which are found from their logarithms, -log R_i - sum over relevant j
/// /= i of softplus(a (s_j - s_i)), so that none of them is lost where there are many relevant rows. Reads as its terms
/// do in the derivative, for log T' / T = sum of shares times (log T_i)'. Without a row that is not relevant, 0.
template <class Real>
struct SmoothLogRr {
  Span<const Real> scores;
  Ragged lists;
  Chosen targets;
  Real gain;
  Span<const Real> rank;
  Span<double> logs;
  Span<Real> terms, value;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = targets.begin(list), p = targets.size(list);
    const bool matters = p > 0 && p < lists.size(list);
    const Real* const s = scores.data + lists.begin(list);
    group.each(p, [&](int64_t i) {
      double log = -portable::log(static_cast<double>(rank[at + i]));
      for (int64_t j = 0; matters && j < p; ++j) {
        if (j != i)
          log -= softplus(static_cast<double>(score_difference(s[targets(list, j)], s[targets(list, i)], gain)));
      }
      logs[at + i] = log;
    });
    const double top = group.max(p, -HUGE_VAL, [&](int64_t i) { return logs[at + i]; });
    const double total = group.sum(p, [&](int64_t i) { return portable::exp(logs[at + i] - top); });
    group.each(p, [&](int64_t i) {
      terms[at + i] = static_cast<Real>(matters ? portable::exp(logs[at + i] - top) / total : 0.0);
    });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(matters ? top + portable::log(total) : 0.0); });
  }
};

/// What the products of RR add to the derivative: a [ T_k sum_j sigma(s_j - s_k) - sum_i T_i sigma(s_k - s_i) ] over
/// relevant j, i != k.
template <class Real>
struct SmoothRrProductVjp {
  Span<const Real> scores;
  Ragged lists;
  Chosen targets;
  Real gain;
  Span<const Real> terms, upstream;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = targets.begin(list), p = targets.size(list), row = lists.begin(list);
    const Real* const s = scores.data + row;
    group.each(p, [&](int64_t k) {
      double total = 0;
      for (int64_t j = 0; j < p; ++j) {
        if (j == k) continue;
        const double sigma =
            sigmoid(static_cast<double>(score_difference(s[targets(list, j)], s[targets(list, k)], gain)));
        total += terms[at + k] * sigma - terms[at + j] * (1 - sigma);
      }
      out[row + targets(list, k)] += static_cast<Real>(upstream[list] * gain * total);
    });
  }
};

}  // namespace mr
