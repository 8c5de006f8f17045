// Smooth reciprocal rank (RR; Li et al. 2021, Eq. 16), its logarithm and their derivatives. `targets` are the relevant
// rows.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/view.h"
#include "kernels/smooth/laplace.h"
#include "kernels/smooth/smooth_metrics.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// The two functions of a score difference t that smooth RR needs, for the logistic kernel: cdf is sigma(t), and cost
/// is -log sigma(-t).
struct LogisticKernel {
  static MR_HD double cdf(double t) { return sigmoid(t); }
  static MR_HD double cost(double t) { return softplus(t); }
};

/// Computes the term T_i of smooth RR for every relevant row i: 1/R_i times the product over the other relevant rows j
/// of 1 - F(a (s_j - s_i)), where F is sigma, or the distribution function of the Laplace kernel. Each factor is
/// computed as F(a (s_i - s_j)), which is accurate when small. If `rank` is null, 1/R_i is left out. A product that is
/// too small becomes 0.
template <class Real, class Kernel = LogisticKernel>
struct SmoothRrTerms {
  Span<const Real> scores;
  Ragged lists;
  Chosen targets;
  Real steepness;
  Span<const Real> rank;
  Span<Real> terms;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = targets.begin(list), p = targets.size(list);
    const Real* const s = scores.data + lists.begin(list);
    group.each(p, [&](int64_t i) {
      double term = 1 / rank_of(at + i);
      for (int64_t j = 0; j < p; ++j) {
        if (j == i) continue;
        term *= Kernel::cdf(static_cast<double>(score_difference(s[targets(list, i)], s[targets(list, j)], steepness)));
      }
      terms[at + i] = static_cast<Real>(term);
    });
  }
  MR_HD double rank_of(int64_t slot) const { return rank.data == nullptr ? 1 : static_cast<double>(rank[slot]); }
};

/// Writes the products of smooth RR, one per relevant row, to the positions of these rows in `out`, and 0 for all other
/// rows. With `upstream`, writes the products times the upstream derivatives of these rows, one per relevant row.
template <class Real>
struct SmoothFirst {
  Ragged lists;
  Chosen targets;
  Span<const Real> products, upstream;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = targets.begin(list), p = targets.size(list), row = lists.begin(list);
    const bool back = upstream.data != nullptr;
    group.each(back ? 0 : lists.size(list), [&](int64_t i) { out[row + i] = 0; });
    group.each(p, [&](int64_t i) {
      const int64_t at_row = row + targets(list, i);
      out[back ? at + i : at_row] = back ? upstream[at_row] * products[at + i] : products[at + i];
    });
  }
};

/// Smooth RR of a list: the sum of its terms T_i over the relevant rows i. Its derivative by the smooth rank R_i is g_i
/// = -T_i / R_i, times the upstream derivative.
template <class Real>
struct SmoothRr {
  SmoothMetricViews<Real> v;
  Span<const Real> terms;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = v.targets.begin(list), p = v.targets.size(list);
    if (v.upstream.data == nullptr) {
      const double total = group.sum(p, [&](int64_t i) { return terms[at + i]; });
      return group.each(1, [&](int64_t) { v.value[list] = static_cast<Real>(total); });
    }
    group.each(p, [&](int64_t i) { v.g[at + i] = -v.upstream[list] * terms[at + i] / v.rank[at + i]; });
  }
};

/// Logarithm of smooth RR. The logarithms of its terms T_i, -log R_i - sum over relevant j != i of cost(a (s_j - s_i))
/// with the kernel's cost (softplus for sigma), are added by log-sum-exp, so that lists with many relevant rows do not
/// underflow to 0. `terms` gets the share of each T_i in the sum, because (log T)' = sum_i share_i (log T_i)'. A list
/// without irrelevant rows has value 0.
template <class Real, class Kernel = LogisticKernel>
struct SmoothLogRr {
  Span<const Real> scores;
  Ragged lists;
  Chosen targets;
  Real steepness;
  Span<const Real> rank;
  Span<double> logs;
  Span<Real> terms, value;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = targets.begin(list), p = targets.size(list);
    const Real* const s = scores.data + lists.begin(list);
    group.each(p, [&](int64_t i) {
      double log = -portable::log(static_cast<double>(rank[at + i]));
      for (int64_t j = 0; matters(list) && j < p; ++j) {
        if (j != i)
          log -=
              Kernel::cost(static_cast<double>(score_difference(s[targets(list, j)], s[targets(list, i)], steepness)));
      }
      logs[at + i] = log;
    });
    shares(group, list);
  }
  MR_HD bool matters(int64_t list) const { return targets.size(list) > 0 && targets.size(list) < lists.size(list); }

  template <class Group>
  MR_HD void shares(const Group& group, int64_t list) const {
    const int64_t at = targets.begin(list), p = targets.size(list);
    const double top = group.max(p, -HUGE_VAL, [&](int64_t i) { return logs[at + i]; });
    const double total = group.sum(p, [&](int64_t i) { return portable::exp(logs[at + i] - top); });
    group.each(p, [&](int64_t i) {
      terms[at + i] = static_cast<Real>(matters(list) ? portable::exp(logs[at + i] - top) / total : 0.0);
    });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(matters(list) ? top + portable::log(total) : 0.0); });
  }
};

/// Adds the part of smooth RR's derivative that comes from the products in its terms T. The score s_k of a relevant row
/// k gets a [ T_k sum_j sigma(s_j - s_k) - sum_i T_i sigma(s_k - s_i) ], with j and i over the other relevant rows. The
/// steepness a multiplies the differences too. All is times the list's upstream derivative (1 if `upstream` is null).
template <class Real>
struct SmoothRrProductVjp {
  Span<const Real> scores;
  Ragged lists;
  Chosen targets;
  Real steepness;
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
            sigmoid(static_cast<double>(score_difference(s[targets(list, j)], s[targets(list, k)], steepness)));
        total += terms[at + k] * sigma - terms[at + j] * (1 - sigma);
      }
      out[row + targets(list, k)] += static_cast<Real>(factor(list) * total);
    });
  }
  MR_HD double factor(int64_t list) const {
    return (upstream.data == nullptr ? 1.0 : static_cast<double>(upstream[list])) * static_cast<double>(steepness);
  }
};

/// Like SmoothRrProductVjp, the part of smooth RR's derivative from products, but for the Laplace kernel with
/// distribution function F. The score s_k gets a [ T_k sum_j q(s_k - s_j) - sum_j T_j q(s_j - s_k) ] with q = F' / F.
template <class Real>
struct LaplaceRrProductVjp : SmoothRrProductVjp<Real> {
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const auto& w = *this;
    const int64_t at = w.targets.begin(list), p = w.targets.size(list), row = w.lists.begin(list);
    const Real* const s = w.scores.data + row;
    group.each(p, [&](int64_t k) {
      double total = 0;
      for (int64_t j = 0; j < p; ++j) {
        if (j == k) continue;
        const double t = score_difference(s[w.targets(list, j)], s[w.targets(list, k)], w.steepness);
        total += w.terms[at + k] * LaplaceKernel::ratio(-t) - w.terms[at + j] * LaplaceKernel::ratio(t);
      }
      w.out[row + w.targets(list, k)] += static_cast<Real>(w.factor(list) * total);
    });
  }
};
template <class Real>
using LaplaceRrTerms = SmoothRrTerms<Real, LaplaceKernel>;
template <class Real>
using LaplaceLogRr = SmoothLogRr<Real, LaplaceKernel>;

}  // namespace mr
