// Losses of a soft choice of the top k rows (Zhu et al. 2025, DFTopK, arXiv:2510.11472), and nDCG of ranks that are
// projected onto the permutahedron (Blondel et al. 2020, ICML).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/view.h"
#include "kernels/losses/grades.h"
#include "kernels/ranking/discount.h"
#include "kernels/ranking/order.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// Names the value that a loss computes from a soft choice of the top k rows: the choice's precision, its recall, the
/// probability of a hit, or its cross entropy with relevance.
enum class SoftTop : int32_t { precision, recall, hit, cross_entropy };

/// Computes a loss of the mask m_i = sigma(z_i), z_i = (f_i - (f_(k) + f_(k+1)) / 2) / tau, where f_(k) is the k-th
/// largest score: minus the sum of m over the relevant rows, divided by k (precision) or by P (recall); minus the
/// probability that the mask has a relevant row (hit); the mean over rows of the cross entropy of m and relevance. The
/// gradient goes through f_(k) and f_(k+1). A list whose relevant rows are none or all, or with at most k rows, has the
/// value 0. Time O(N).
template <class Real>
struct SoftTopLoss {
  Span<const Real> scores;
  Span<const float> relevance;
  Span<const Placement> places;  // without ties
  Ragged lists;
  Chosen relevant;
  int64_t k;
  double tau;
  float threshold;  // smallest grade of a relevant row
  SoftTop of;
  Span<Real> value, derivative;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list), p = relevant.size(list);
    const bool matters = p > 0 && p < n && k < n;
    const auto at_place = [&](int64_t place) {
      return group.max(matters ? n : 0, int64_t{-1}, [&](int64_t i) {
        return places[at + i].above + places[at + i].before == place ? i : int64_t{-1};
      });
    };
    const int64_t last = at_place(k - 1), next = at_place(k);
    const auto z = [&](int64_t i) {
      const double f = scores[at + i], a = scores[at + last], b = scores[at + next];
      return 0.5 / tau * (score_difference(f, a, 1.0) + score_difference(f, b, 1.0));
    };
    const double missed = group.sum(matters ? p : 0, [&](int64_t slot) { return softplus(z(relevant(list, slot))); });
    const auto term = [&](int64_t i) {
      const bool is_relevant = relevance[at + i] >= threshold;
      if (of == SoftTop::cross_entropy) return softplus(is_relevant ? -z(i) : z(i)) / static_cast<double>(n);
      return is_relevant ? -sigmoid(z(i)) / static_cast<double>(of == SoftTop::recall ? p : k) : 0.0;
    };
    const double total = of == SoftTop::hit ? portable::expm1(-missed) : group.sum(matters ? n : 0, term);
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(matters ? total : 0); });
    if (derivative.data == nullptr) return;
    const auto slope = [&](int64_t i) {
      const bool is_relevant = relevance[at + i] >= threshold;
      const double m = sigmoid(z(i));
      if (of == SoftTop::cross_entropy) return (is_relevant ? -sigmoid(-z(i)) : m) / (tau * static_cast<double>(n));
      if (!is_relevant) return 0.0;
      if (of == SoftTop::hit) return -portable::exp(-missed) * m / tau;
      return -m * sigmoid(-z(i)) / (tau * static_cast<double>(of == SoftTop::recall ? p : k));
    };
    const double half = 0.5 * group.sum(matters ? n : 0, slope);
    group.each(n, [&](int64_t i) {
      derivative[at + i] = static_cast<Real>(matters ? slope(i) - (i == last || i == next ? half : 0) : 0);
    });
  }
};

/// Computes - sum_i G_i d(R_i) / IDCG per list, where R is the point of the permutahedron of (1, ..., N) that is
/// nearest to -f / eps: Blondel et al. 2020, Section 4, with the quadratic regularization. Pool adjacent violators
/// finds blocks of rows that share what lies between their scores and their ranks. Rows by descending score are pooled
/// with those before them while the gap of two blocks, divided by eps, is less than the gap of their ranks. Scores
/// enter as differences only, so infinite ones have limits. The derivative of R by -f / eps is the identity minus the
/// mean of each block. `order` has the rows of every list by descending score, counted from 1 within the batch. `spare`
/// has four entries per row. One lane pools. Time O(N).
template <class Real>
struct ProjectedNdcgLoss {
  static constexpr int64_t slots = 4;
  Span<const Real> scores;
  Span<const float> relevance;
  Span<const int64_t> order;
  Ragged lists;
  Span<const double> ideal;
  double eps;
  Span<double> spare;
  Span<Real> value, derivative;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const bool matters = grades_differ(group, relevance.data + at, n);
    double* const rank = spare.data + slots * at;  // by place
    double* const block = rank + n;                // by place p (order of scores): first place of the block of p
    double* const slope = rank + 2 * n;            // by place: G_i d'(R_i)
    double* const shift = rank + 3 * n;            // at the first place of each block: a sum over the rows of the block
    group.each(1, [&](int64_t) { pool(at, n, rank, block, shift); });
    const double total = group.sum(n, [&](int64_t p) {
      const double gain = gain_of(relevance[row(at, p)]);
      return matters && gain > 0 ? -gain * sloped_discount(rank[p]).value / ideal[list] : 0.0;
    });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(total); });
    if (derivative.data == nullptr) return;
    group.each(n, [&](int64_t p) {
      const double gain = gain_of(relevance[row(at, p)]);
      slope[p] = matters && gain > 0 ? -gain * sloped_discount(rank[p]).slope / ideal[list] : 0;
    });
    group.each(1, [&](int64_t) { means(n, block, slope, shift); });
    group.each(n, [&](int64_t p) {
      derivative[row(at, p)] = static_cast<Real>((shift[static_cast<int64_t>(block[p])] - slope[p]) / eps);
    });
  }

 private:
  MR_HD int64_t row(int64_t at, int64_t place) const { return order[at + place] - 1; }
  /// Returns (score at place `first` - score at place `other`) / eps, where places count the rows by descending score.
  /// Equal scores give 0, even if infinite.
  MR_HD double gap(int64_t at, int64_t first, int64_t other) const {
    const double a = scores[row(at, first)], b = scores[row(at, other)];
    return a == b ? 0 : (a - b) / eps;
  }

  /// Pool adjacent violators: finds the blocks of rows, by place in descending order of score. For each block from
  /// place `first` on, sum[first] becomes the sum over its rows of (f_first - f_row) / eps. While the blocks are being
  /// found, block[first] holds the first place of the previous block.
  MR_HD void pool(int64_t at, int64_t n, double* rank, double* block, double* sum) const {
    int64_t first = 0;
    for (int64_t p = 0; p < n; ++p) {
      block[p] = static_cast<double>(first);
      first = p;
      sum[p] = 0;
      const int64_t next = p + 1;
      while (first > 0) {
        const auto before = static_cast<int64_t>(block[first]);
        const double size = static_cast<double>(first - before), own = static_cast<double>(next - first),
                     apart = gap(at, before, first);
        // stops pooling if the mean score of the previous block exceeds that of this block by more than their mean
        // ranks differ
        if (apart - sum[before] / size + sum[first] / own > 0.5 * (size + own)) break;
        sum[before] += sum[first] + own * apart;
        first = before;
      }
    }
    int64_t end = n;
    while (end > 0) {
      const auto before = static_cast<int64_t>(block[first]);
      const double size = static_cast<double>(end - first), mean = sum[first] / size,
                   middle = static_cast<double>(first) + 0.5 * (size + 1);
      for (int64_t p = first; p < end; ++p) {
        rank[p] = middle + (gap(at, first, p) - mean);
        block[p] = static_cast<double>(first);
      }
      end = first;
      first = before;
    }
  }

  /// Computes the mean of the array `of` over each block of places and writes it to mean[first], where `first` is the
  /// block's first place.
  MR_HD static void means(int64_t n, const double* block, const double* of, double* mean) {
    for (int64_t p = 0; p < n; ++p) mean[p] = 0;
    int64_t first = 0;
    for (int64_t p = 0; p < n; ++p) {
      if (static_cast<int64_t>(block[p]) == p) first = p;
      mean[first] += of[p];
      const bool ends = p + 1 == n || static_cast<int64_t>(block[p + 1]) == p + 1;
      if (ends) mean[first] /= static_cast<double>(p + 1 - first);
    }
  }
};

}  // namespace mr
