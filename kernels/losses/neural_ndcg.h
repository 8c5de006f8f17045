// NeuralNDCG (Pobrotyn & Bialobrzeski 2021): - nDCG of a relaxed permutation matrix, - sum over k, j of d(k) P_kj G_j
// over the ideal DCG. The derivative goes back through every iteration of the scaling.
#pragma once

#include "kernels/core/view.h"
#include "kernels/losses/neural_sort.h"
#include "kernels/ranking/discount.h"

namespace mr {

/// One value per list, and its derivative by every score (null: not asked for). `spare` has `slots(iterations)` per
/// row; without derivative `slots(1)`.
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
  static constexpr MR_HD int64_t slots(int64_t kept) { return vectors + NeuralSort<PlainSums>::slots(kept); }

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    of_list<PlainSums>(group, list);
  }

  template <class Sums, class Group>
  MR_HD void of_list(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const bool slopes = derivative.data != nullptr;
    const float top = group.max(n, 0.0F, [&](int64_t i) { return relevance[at + i]; });
    const bool matters = group.sum(n, [&](int64_t i) { return relevance[at + i] < top ? 1 : 0; }) > 0;
    if (!matters) {
      if (slopes) group.each(n, [&](int64_t i) { derivative[at + i] = 0; });
      group.each(1, [&](int64_t) { value[list] = 0; });
      return;
    }
    double* const memory = spare.data + slots(slopes ? iterations : 1) * at;
    const NeuralSort<Sums> x(memory + vectors * n, n, tau, slopes);
    const OfList<Sums> l(x, memory);
    x.prepare(group, scores.data + at);
    const int64_t last = x.scale(group, iterations, tolerance);
    group.each(n, [&](int64_t i) {
      l.gain[i] = gain_of(relevance[at + i]) / ideal[list];
      l.discount[i] = discount(static_cast<double>(i + 1));
      l.a[i] = x.v(last)[i] * l.gain[i];
    });
    const double sum =
        group.sum(n, [&](int64_t k) { return l.discount[k] * x.u(last)[k] * (l.b[k] = x.over_row(k, l.a)); });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(-sum); });
    if (!slopes) return;
    l.go_back(group, last);
    group.each(n, [&](int64_t j) { derivative[at + j] = static_cast<Real>(l.by_score(j)); });
  }

 private:
  /// The vectors of a list. Of sums that rows and columns were divided by, `rows` and `columns` have what the value
  /// changes with them; `slope` what it changes with f_j other than by A_j, `by_away` with A_j / tau.
  template <class Sums>
  struct OfList {
    const NeuralSort<Sums>& x;
    double *gain, *discount, *a, *b, *rows, *columns, *slope, *by_away, *stepped;

    MR_HD OfList(const NeuralSort<Sums>& matrix, double* memory)
        : x(matrix),
          gain(memory),
          discount(memory + x.n),
          a(memory + 2 * x.n),
          b(memory + 3 * x.n),
          rows(memory + 4 * x.n),
          columns(memory + 5 * x.n),
          slope(memory + 6 * x.n),
          by_away(memory + 7 * x.n),
          stepped(memory + 8 * x.n) {}

    /// From the last iteration back. `b` has sum over j of K_kj v_j G_j. What an entry of the matrix changes, less the
    /// mean over its row that softmax takes off, adds up to sums that are made here anyway: the mean is - rows of the
    /// zeroth iteration, the sum over a column is that of the same.
    template <class Group>
    MR_HD void go_back(const Group& group, int64_t last) const {
      group.each(x.n, [&](int64_t k) {
        const double up = x.u(last)[k];
        rows[k] = discount[k] * b[k] * up * up;
        a[k] = discount[k] * up;
        stepped[k] = x.steps[k] * a[k];
      });
      group.each(x.n, [&](int64_t j) {
        double sums[2];
        x.template over_column<2>(j, {a, stepped}, sums);
        columns[j] = -gain[j] * sums[0];
        slope[j] = -gain[j] * x.v(last)[j] * sums[1];
        by_away[j] = last == 0 ? gain[j] * sums[0] : 0;
      });
      for (int64_t t = last; t >= 1; --t) go_back_one(group, t, last);
      group.each(x.n, [&](int64_t k) { stepped[k] = x.steps[k] * rows[k]; });
      group.each(x.n, [&](int64_t j) {
        double sums[2];
        x.template over_column<2>(j, {rows, stepped}, sums);
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
      group.each(x.n, [&](int64_t j) {
        double sums[3];
        x.template over_column<3>(j, {rows, stepped, a}, sums);
        const double by_v = sums[0] + (t == last ? columns[j] : 0);
        columns[j] = -by_v * v[j] * v[j];
        slope[j] += v[j] * sums[1] + columns[j] * sums[2];
      });
      group.each(x.n, [&](int64_t k) { rows[k] = -x.over_row(k, columns) * u[k] * u[k]; });
    }

    MR_HD double by_score(int64_t j) const {
      double sum = 0;
      for (int64_t l = 0; l < x.n; ++l) {
        const double sign = x.f[j] > x.f[l] ? 1 : x.f[j] < x.f[l] ? -1 : 0;
        sum += sign * (by_away[j] + by_away[l]);
      }
      return slope[j] + sum / x.tau;
    }
  };
};

}  // namespace mr
