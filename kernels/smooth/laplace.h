// Smooth ranks with the Laplace kernel (Struski et al. 2025, LapSum, arXiv:2503.06242) and their derivatives:
// R_i = 1 + sum over j != i of F(a (s_j - s_i)), where F is the CDF of the Laplace distribution with scale 1. Letters
// as in smooth_rank.h, and F'(t) = e^-|t| / 2.
//
// Problem: sum e^(-a |s_j - s_i|), with weights, over all other rows j, for every row i.
// Idea: in the order of scores, the sum U over the rows before a row follows from the sum of its predecessor:
// U_i+1 = e^(-a gap) (U_i + weight_i). One recurrence runs downwards and one upwards. Rows before i in descending order
// have F = 1 - e^(...) / 2, the others e^(...) / 2. Exponentials of scores do not occur, so nothing overflows.
// Cost: O(N) for a sorted list, with one exponential per row. The list is cut into at most 128 chunks, which the lanes
// of a group run twice: first to find what each chunk adds, then with the sums of the chunks before it. Where a list is
// cut depends on its number of rows alone.
// Error: sums are in double. A product of N factors is exact to N units in the last place; ties have the factor 1.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/view.h"

namespace mr {

/// The Laplace kernel as smooth RR uses it: its distribution function F, and logarithms and derivatives of F.
/// smooth_rr.h has the same functions of the logistic kernel.
struct LaplaceKernel {
  /// F(t).
  static MR_HD double cdf(double t) {
    const double half = 0.5 * portable::exp(-std::fabs(t));
    return t <= 0 ? half : 1 - half;
  }
  /// -log F(-t).
  static MR_HD double cost(double t) {
    return t >= 0 ? t + 0.69314718055994530942 : -portable::log1p(-0.5 * portable::exp(t));
  }
  /// F'(t) / F(t).
  static MR_HD double ratio(double t) {
    if (t <= 0) return 1;
    const double e = portable::exp(-t);
    return e / (2 - e);
  }
};

/// Computes, for each row of one list, sums over the rows before it, in descending or ascending order of score, with
/// weights that decay by e^(-a |score difference|).
template <class Real>
struct LaplaceSums {
  static constexpr int64_t slots = 4;  // doubles per row of the spare memory
  const Real* scores;
  const int64_t* order;  // the list's rows by descending score: numbers within the batch, counted from 1
  int64_t first, n;      // the list's first row in the batch, and its number of rows
  double steepness;
  double *decay, *weight, *sum, *chunk;

  /// `spare` must have room for slots * n doubles.
  MR_HD LaplaceSums(const Span<const Real>& s, const Span<const int64_t>& sorted, const Ragged& lists, int64_t list,
                    double a, double* spare)
      : scores(s.data + lists.begin(list)),
        order(sorted.data + lists.begin(list)),
        first(lists.begin(list)),
        n(lists.size(list)),
        steepness(a),
        decay(spare),
        weight(spare + n),
        sum(spare + 2 * n),
        chunk(spare + 3 * n) {}

  MR_HD int64_t row(int64_t place) const { return order[place] - 1 - first; }

  /// Computes the exponentials of the gaps between neighbours by score. All other functions read them.
  template <class Group>
  MR_HD void prepare(const Group& group) const {
    group.each(n, [&](int64_t p) {
      const double here = scores[row(p)], next = p + 1 < n ? static_cast<double>(scores[row(p + 1)]) : here;
      decay[p] = here == next ? 1 : portable::exp(-steepness * (here - next));
    });
  }

  /// Sets the weights of the list's rows in the sums: value(slot) for the slot-th chosen row, 0 for rows that are not
  /// chosen.
  template <class Group, class Value>
  MR_HD void weigh(const Group& group, const Chosen& chosen, int64_t list, Value value) const {
    group.each(n, [&](int64_t i) { weight[i] = 0; });
    group.each(chosen.size(list), [&](int64_t slot) { weight[chosen(list, slot)] = value(slot); });
  }

  /// Sets the weight of every row i in the sums to value(i).
  template <class Group, class Value>
  MR_HD void weigh_all(const Group& group, Value value) const {
    group.each(n, [&](int64_t i) { weight[i] = value(i); });
  }

  /// Computes sum[i] = sum over j != i of weight_j F(a (s_j - s_i)), where every weight is 0 or 1 and F is the
  /// distribution function of the Laplace distribution.
  template <class Group>
  MR_HD void counts(const Group& group) const {
    sweep(group, true, [&](int64_t i, double decayed, double before) { sum[i] = before - 0.5 * decayed; });
    sweep(group, false, [&](int64_t i, double decayed, double) { sum[i] += 0.5 * decayed; });
  }

  /// Computes for every row i of the list sum[i] = sum over rows j != i of weight_j e^(-a |s_j - s_i|), with scores s
  /// and steepness a.
  template <class Group>
  MR_HD void kernels(const Group& group) const {
    sweep(group, true, [&](int64_t i, double decayed, double) { sum[i] = decayed; });
    sweep(group, false, [&](int64_t i, double decayed, double) { sum[i] += decayed; });
  }

  /// Calls then(i, sum over rows j of sign(s_i - s_j) weight_j e^(-a |s_j - s_i|)) for every row i. Equal scores have
  /// the sign 0: the sums over better and over worse rows are those of the first and the last row with the score of i.
  /// `above` has n numbers.
  template <class Group, class Then>
  MR_HD void signed_kernels(const Group& group, double* above, Then then) const {
    sweep(group, true, [&](int64_t i, double decayed, double) { above[i] = decayed; });
    sweep(group, false, [&](int64_t i, double decayed, double) { sum[i] = decayed; });
    group.each(n, [&](int64_t place) { then(row(place), sum[row(tied(place, 1))] - above[row(tied(place, -1))]); });
  }

 private:
  /// Returns the last place in direction `step` (1: down, -1: up) whose row has the score of the row at `place`.
  MR_HD int64_t tied(int64_t place, int64_t step) const {
    const Real own = scores[row(place)];
    // bisection: between `same` and `other`, the score changes to another one
    int64_t same = place, other = step > 0 ? n : -1;
    if (place + step != other && scores[row(place + step)] != own) return place;
    while (same + step != other) {
      const int64_t middle = same + (other - same) / 2;
      (scores[row(middle)] == own ? same : other) = middle;
    }
    return same;
  }

  /// Calls emit(i, decayed, plain) for every row i. Both arguments are sums over the rows j before row i in descending
  /// (or ascending) order of score: `decayed` of weight_j e^(-a |s_j - s_i|), `plain` of weight_j.
  template <class Group, class Emit>
  MR_HD void sweep(const Group& group, bool descending, Emit emit) const {
    const int64_t shortest = 16, part = (n + 127) / 128, length = part > shortest ? part : shortest,
                  chunks = (n + length - 1) / length;
    const auto run = [&](int64_t c, double decayed, double before, auto visit) {
      const int64_t end = (c + 1) * length < n ? (c + 1) * length : n;
      for (int64_t q = c * length; q < end; ++q) {
        const int64_t place = descending ? q : n - 1 - q, i = row(place);
        const double step = q + 1 == n ? 0 : decay[descending ? place : place - 1];
        visit(i, decayed, before, step);
        decayed = step * (decayed + weight[i]);
        before += weight[i];
      }
    };
    // If the list is cut into several chunks, computes for each chunk the product of its decays and its two sums, as
    // if there were no rows before it. `chunk` has n entries, which is enough: 3 * chunks <= n.
    group.each(chunks > 1 ? chunks : 0, [&](int64_t c) {
      double product = 1, decayed = 0, before = 0;
      run(c, 0, 0, [&](int64_t i, double sum_so_far, double count_so_far, double step) {
        product *= step;
        decayed = step * (sum_so_far + weight[i]);
        before = count_so_far + weight[i];
      });
      chunk[3 * c] = product;
      chunk[3 * c + 1] = decayed;
      chunk[3 * c + 2] = before;
    });
    group.each(chunks > 1 ? 1 : 0, [&](int64_t) {
      double decayed = 0, before = 0;
      for (int64_t c = 0; c < chunks; ++c) {
        const double own = chunk[3 * c + 1], own_before = chunk[3 * c + 2];
        chunk[3 * c + 1] = decayed;
        chunk[3 * c + 2] = before;
        decayed = chunk[3 * c] * decayed + own;
        before += own_before;
      }
    });
    group.each(chunks, [&](int64_t c) {
      run(c, c == 0 ? 0 : chunk[3 * c + 1], c == 0 ? 0 : chunk[3 * c + 2],
          [&](int64_t i, double decayed, double before, double) { emit(i, decayed, before); });
    });
  }
};

/// Computes SmoothRank with the Laplace kernel. `order` has the rows of every list by descending score, counted from 1
/// within the batch; `spare` has `slots` doubles per row.
template <class Real>
struct LaplaceRank {
  static constexpr int64_t slots = LaplaceSums<Real>::slots;
  Span<const Real> scores;
  Span<const int64_t> order;
  Ragged lists;
  Chosen targets, sources;
  Real steepness;
  Span<double> spare;
  Span<Real> ranks, among = {};
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const LaplaceSums<Real> sums(scores, order, lists, list, steepness, spare.data + slots * lists.begin(list));
    sums.prepare(group);
    ranks_over(group, list, sums, sources, ranks);
    if (among.data != nullptr) ranks_over(group, list, sums, targets, among);
  }

 private:
  template <class Group>
  MR_HD void ranks_over(const Group& group, int64_t list, const LaplaceSums<Real>& sums, const Chosen& rows,
                        const Span<Real>& out) const {
    sums.weigh(group, rows, list, [](int64_t) { return 1.0; });
    sums.counts(group);
    const int64_t at = targets.begin(list);
    group.each(targets.size(list),
               [&](int64_t slot) { out[at + slot] = static_cast<Real>(1 + sums.sum[targets(list, slot)]); });
  }
};

/// Computes SmoothRankVjp with the Laplace kernel. `spare` has `slots` doubles per row.
template <class Real>
struct LaplaceRankVjp {
  static constexpr int64_t slots = LaplaceSums<Real>::slots + 1;
  Span<const Real> scores;
  Span<const int64_t> order;
  Ragged lists;
  Chosen targets;
  Real steepness;
  Span<const Real> g, h;
  Span<double> spare;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list), own = targets.begin(list), p = targets.size(list);
    double* const total = spare.data + slots * at;
    const LaplaceSums<Real> sums(scores, order, lists, list, steepness, total + n);
    sums.prepare(group);
    sums.weigh(group, targets, list, [&](int64_t slot) { return static_cast<double>(g[own + slot]); });
    sums.kernels(group);
    group.each(n, [&](int64_t i) { total[i] = sums.sum[i]; });
    sums.weigh(group, {lists, nullptr}, list, [](int64_t) { return 1.0; });
    sums.kernels(group);
    group.each(p, [&](int64_t slot) {
      const int64_t i = targets(list, slot);
      total[i] -= g[own + slot] * sums.sum[i];
    });
    if (h.data != nullptr) among_targets(group, list, sums, total);
    group.each(n, [&](int64_t i) { out[at + i] = static_cast<Real>(0.5 * steepness * total[i]); });
  }

 private:
  template <class Group>
  MR_HD void among_targets(const Group& group, int64_t list, const LaplaceSums<Real>& sums, double* total) const {
    const int64_t own = targets.begin(list), p = targets.size(list);
    sums.weigh(group, targets, list, [&](int64_t slot) { return static_cast<double>(h[own + slot]); });
    sums.kernels(group);
    group.each(p, [&](int64_t slot) { total[targets(list, slot)] += sums.sum[targets(list, slot)]; });
    sums.weigh(group, targets, list, [](int64_t) { return 1.0; });
    sums.kernels(group);
    group.each(p, [&](int64_t slot) {
      const int64_t i = targets(list, slot);
      total[i] -= h[own + slot] * sums.sum[i];
    });
  }
};

}  // namespace mr
