// NeuralNDCG (Pobrotyn & Bialobrzeski 2021): - nDCG of a relaxed permutation matrix P, which is - (sum over k, j of
// d(k) P_kj G_j) / (ideal DCG). The derivative goes back through every iteration that scaled the rows and columns of P.
#pragma once

#include "kernels/core/view.h"
#include "kernels/losses/grades.h"
#include "kernels/losses/neural/neural_sort.h"
#include "kernels/ranking/discount.h"

namespace mr {

/// Computes the loss of every list, and its derivative by every score unless `derivative` is null. `spare` has
/// `slots(iterations)` numbers per row, or `slots(1)` without derivative. It is empty on the CPU, whose threads have
/// memory of their own.
template <class Real>
struct NeuralNdcgLoss {
  Span<const Real> scores;
  Span<const float> relevance;
  Ragged lists;
  Span<const double> ideal;
  double tau;
  int64_t iterations;
  double tolerance;
  Span<double> spare;
  Span<Real> value, derivative;

  static constexpr int64_t vectors = 9;
  static constexpr MR_HD int64_t slots(int64_t kept) { return vectors + NeuralSort<PlainMatrix>::slots(kept); }

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t n = lists.size(list);
    of_list(group, list, PlainMatrix{}, spare.data + slots(kept()) * lists.begin(list), n);
  }

  /// Returns the number of iterations whose scalings of rows and columns are kept.
  MR_HD int64_t kept() const { return derivative.data != nullptr ? iterations : 1; }

  /// Computes one list. `memory` holds `slots(kept())` vectors that are `stride` apart.
  template <class Matrix, class Group>
  MR_HD void of_list(const Group& group, int64_t list, const Matrix& matrix, double* memory, int64_t stride) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const bool slopes = derivative.data != nullptr;
    if (!grades_differ(group, relevance.data + at, n)) return write_zeros(group, list, at, n, value, derivative);
    const NeuralSort<Matrix> x(matrix, memory + vectors * stride, n, stride, tau, slopes);
    const OfList<Matrix> l(x, memory);
    x.prepare(group, scores.data + at);
    const int64_t last = x.scale(group, iterations, tolerance);
    group.each(n, [&](int64_t i) {
      l.gain[i] = gain_of(relevance[at + i]) / ideal[list];
      l.discount[i] = discount(static_cast<double>(i + 1));
      l.a[i] = x.v(last)[i] * l.gain[i];
    });
    x.over_rows(group, l.a, [&](int64_t k, double sum) { l.b[k] = sum; });
    const double sum = group.sum(n, [&](int64_t k) { return l.discount[k] * x.u(last)[k] * l.b[k]; });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(-sum); });
    if (!slopes) return;
    l.go_back(group, last);
    x.matrix.over_signs(group, x, l.by_away, [&](int64_t j, double away) {
      derivative[at + j] = static_cast<Real>(l.slope[j] + away / x.tau);
    });
  }

 private:
  /// Working memory of one list: vectors of n entries. `rows` and `columns` hold the derivatives of the list's value
  /// by the sums that rows and columns of the matrix were divided by. With A_j = sum over l of |f_j - f_l| for scores
  /// f, `by_away` holds the derivatives by A_j / tau, and `slope` those by f_j with A_j held constant.
  template <class Matrix>
  struct OfList {
    const NeuralSort<Matrix>& x;
    double *gain, *discount, *a, *b, *rows, *columns, *slope, *by_away, *stepped;

    MR_HD OfList(const NeuralSort<Matrix>& matrix, double* memory)
        : x(matrix),
          gain(memory),
          discount(memory + x.stride),
          a(memory + 2 * x.stride),
          b(memory + 3 * x.stride),
          rows(memory + 4 * x.stride),
          columns(memory + 5 * x.stride),
          slope(memory + 6 * x.stride),
          by_away(memory + 7 * x.stride),
          stepped(memory + 8 * x.stride) {}

    /// Computes the derivatives of NeuralNDCG, from the last Sinkhorn iteration back to the first. `b` has the sum
    /// over j of K_kj v_j G_j for each row k. To go back through the softmax that made a
    /// row of K, the mean of the derivatives by the row's entries, weighted by these entries, is subtracted from each
    /// derivative. This needs no further sums: the mean is `-rows` of iteration 0, and sums over columns follow from
    /// the sums of that iteration.
    template <class Group>
    MR_HD void go_back(const Group& group, int64_t last) const {
      group.each(x.n, [&](int64_t k) {
        const double up = x.u(last)[k];
        rows[k] = discount[k] * b[k] * up * up;
        a[k] = discount[k] * up;
        stepped[k] = x.steps[k] * a[k];
      });
      x.template over_columns<2>(group, {a, stepped}, [&](int64_t j, const double(&sums)[2]) {
        columns[j] = -gain[j] * sums[0];
        slope[j] = -gain[j] * x.v(last)[j] * sums[1];
        by_away[j] = last == 0 ? gain[j] * sums[0] : 0;
      });
      for (int64_t t = last; t >= 1; --t) go_back_one(group, t, last);
      group.each(x.n, [&](int64_t k) { stepped[k] = x.steps[k] * rows[k]; });
      x.template over_columns<2>(group, {rows, stepped}, [&](int64_t j, const double(&sums)[2]) {
        by_away[j] -= sums[0];
        slope[j] += sums[1];
      });
    }

    template <class Group>
    MR_HD void go_back_one(const Group& group, int64_t t, int64_t last) const {
      const double *const u = x.u(t - 1), *const v = x.v(t);
      group.each(x.n, [&](int64_t k) {
        a[k] = x.steps[k] * u[k];
        stepped[k] = x.steps[k] * rows[k];
      });
      x.template over_columns<3>(group, {rows, stepped, a}, [&](int64_t j, const double(&sums)[3]) {
        const double by_v = sums[0] + (t == last ? columns[j] : 0);
        columns[j] = -by_v * v[j] * v[j];
        slope[j] += v[j] * sums[1] + columns[j] * sums[2];
      });
      x.over_rows(group, columns, [&](int64_t k, double sum) { rows[k] = -sum * u[k] * u[k]; });
    }
  };
};

}  // namespace mr
