// The relaxed permutation matrix of NeuralSort (Grover et al. 2019), scaled by Sinkhorn's iterations.
//
// K_kj says how much row j of the list has rank k: K_kj = softmax over j of ((n + 1 - 2k) f_j - A_j) / tau, with A_j =
// sum over l of |f_j - f_l|. Rows of K sum to 1. Scaling makes its columns sum to 1, too: P_kj = u_k K_kj v_j.
// `Matrix` computes the entries of K. PlainMatrix stores none and computes each from f_j, A_j and the normaliser of row
// k whenever it is read. The CPU uses VectorMatrix (neural_matrix.h). Time O(iterations n^2), memory
// `slots(iterations)` numbers per row.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/losses/neural/plain_matrix.h"

namespace mr {

/// Computes the scaled matrix P of one list. The scalings of every iteration are kept if `keeps`, otherwise only those
/// of the last two iterations. Vectors of n numbers are `stride` apart.
template <class Matrix>
struct NeuralSort : NeuralVectors {
  Matrix matrix;
  int64_t stride;
  bool keeps;
  double* kept;

  static constexpr MR_HD int64_t slots(int64_t iterations) { return 4 + 2 * (iterations + 1); }

  MR_HD NeuralSort(const Matrix& entries, double* memory, int64_t rows, int64_t apart, double temperature,
                   bool keeps_all)
      : NeuralVectors(rows, temperature, memory, apart),
        matrix(entries),
        stride(apart),
        keeps(keeps_all),
        kept(memory + 4 * apart) {}

  /// Return the factors of rows (u) and of columns (v) after an iteration.
  MR_HD double* u(int64_t iteration) const { return slot(iteration, 0); }
  MR_HD double* v(int64_t iteration) const { return slot(iteration, 1); }

  template <class Group, class Then>
  MR_HD void over_rows(const Group& group, const double* weights, Then then) const {
    matrix.template over_rows<1>(group, *this, {weights}, [&](int64_t k, const double(&sums)[1]) { then(k, sums[0]); });
  }
  template <int count, class Group, class Then>
  MR_HD void over_columns(const Group& group, const double* const (&weights)[count], Then then) const {
    matrix.template over_columns<count>(group, *this, weights, then);
  }

  /// Computes the matrix K before it is scaled. An infinite score is replaced by one so far beyond the finite scores
  /// that its row has no share of other ranks.
  template <class Group, class Real>
  MR_HD void prepare(const Group& group, const Real* scores) const {
    const auto finite_or = [&](int64_t i, double other) {
      const double s = scores[i];
      return std::fabs(s) < HUGE_VAL ? s : other;
    };
    const double highest = group.max(n, -HUGE_VAL, [&](int64_t i) { return finite_or(i, -HUGE_VAL); });
    const double lowest = -group.max(n, -HUGE_VAL, [&](int64_t i) { return -finite_or(i, HUGE_VAL); });
    const double beyond = 1000 * tau, high = highest > -HUGE_VAL ? highest + beyond : beyond,
                 low = lowest < HUGE_VAL ? lowest - beyond : -beyond;
    group.each(n, [&](int64_t i) {
      const double s = scores[i];
      f[i] = s == HUGE_VAL ? high : s == -HUGE_VAL ? low : s;
      steps[i] = static_cast<double>(n - 1 - 2 * i) / tau;
      u(0)[i] = v(0)[i] = 1;
    });
    if (highest > most * tau || lowest < -most * tau) draw_near(group, scores, beyond);
    matrix.prepare(group, *this);
  }

  /// Scales columns and rows in turn until the sum of every column is 1 within `tolerance`, or `iterations` times.
  /// Returns the number of the last iteration.
  template <class Group>
  MR_HD int64_t scale(const Group& group, int64_t iterations, double tolerance) const {
    for (int64_t t = 1; t <= iterations; ++t) {
      over_columns<1>(group, {u(t - 1)}, [&](int64_t j, const double(&sums)[1]) { v(t)[j] = 1 / sums[0]; });
      // `off` is the largest distance of a column's sum from 1 after iteration t - 1. The sum of column j is v(t - 1)_j
      // / v(t)_j, because 1 / v(t)_j is the sum of the column without its factor v.
      const double off = group.max(n, 0.0, [&](int64_t j) { return std::fabs(v(t - 1)[j] / v(t)[j] - 1); });
      if (t > 1 && off < tolerance) return t - 1;
      over_rows(group, v(t), [&](int64_t k, double sum) { u(t)[k] = 1 / sum; });
    }
    return iterations;
  }

 private:
  /// Scores of up to this many times tau are used unchanged, because rounding errors of their sums are small compared
  /// with tau.
  static constexpr double most = 0x1p20;

  /// Replaces scores that are too large for the precision of their sums by scores that begin at 0 and give the same
  /// matrix. Gaps between neighbours are cut to `beyond`, at which a row has no share of the other's rank.
  template <class Group, class Real>
  MR_HD void draw_near(const Group& group, const Real* scores, double beyond) const {
    // memory that is free until `prepare` fills `away` and `normaliser`
    double *const gaps = away, *const sums = normaliser;
    group.each(n, [&](int64_t i) {
      const double s = scores[i];
      double next = -HUGE_VAL;
      bool lowest = true, first = true;
      for (int64_t l = 0; l < n; ++l) {
        const double other = scores[l];
        if (other < s) lowest = false;
        if (other < s && other > next) next = other;
        // of rows with equal scores, only the first one has the gap to the next lower score
        if (other == s && l < i) first = false;
      }
      gaps[i] = lowest || !first ? 0 : s - next < beyond ? s - next : beyond;
    });
    group.each(n, [&](int64_t i) {
      sums[i] = 0;
      for (int64_t l = 0; l < n; ++l) sums[i] += scores[l] <= scores[i] ? gaps[l] : 0;
    });
    group.each(n, [&](int64_t i) { f[i] = scores[i] == scores[i] ? sums[i] : static_cast<double>(scores[i]); });
  }

  MR_HD double* slot(int64_t iteration, int which) const {
    return kept + (2 * (keeps ? iteration : iteration % 2) + which) * stride;
  }
};

}  // namespace mr
