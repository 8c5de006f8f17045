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

  static constexpr int64_t slots(int64_t kept) { return 3 + NeuralSort::slots(kept); }

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
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
    const OfList l{memory, memory + n, memory + 2 * n};
    const NeuralSort x(memory + 3 * n, n, tau, slopes);
    group.each(n, [&](int64_t i) {
      l.gain[i] = gain_of(relevance[at + i]) / ideal[list];
      l.discount[i] = discount(static_cast<double>(i + 1));
    });
    x.prepare(group, scores.data + at);
    const int64_t last = x.scale(group, iterations, tolerance);
    const double sum =
        group.sum(n, [&](int64_t k) { return l.discount[k] * x.u(last)[k] * l.gain_of_rank(x, last, k); });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(-sum); });
    if (!slopes) return;
    l.go_back(group, x, last);
    group.each(n, [&](int64_t j) { derivative[at + j] = static_cast<Real>(l.by_score(x, last, j)); });
  }

 private:
  struct OfList {
    double *gain, *discount, *spread;

    MR_HD double gain_of_rank(const NeuralSort& x, int64_t last, int64_t k) const {
      return x.over_row(k, [&](int64_t j) { return x.v(last)[j] * gain[j]; });
    }

    /// From the last iteration back: what the value changes with every sum of a row or column that was divided by.
    template <class Group>
    MR_HD void go_back(const Group& group, const NeuralSort& x, int64_t last) const {
      group.each(x.n, [&](int64_t k) {
        const double by_u = -discount[k] * x.over_row(k, [&](int64_t j) { return x.v(last)[j] * gain[j]; });
        x.by_row_sum(last)[k] = -by_u * x.u(last)[k] * x.u(last)[k];
      });
      for (int64_t t = last; t >= 1; --t) {
        group.each(x.n, [&](int64_t j) {
          const double of_value =
              t == last ? -gain[j] * x.over_column(j, [&](int64_t k) { return discount[k] * x.u(t)[k]; }) : 0;
          const double by_v = of_value + x.over_column(j, [&](int64_t k) { return x.by_row_sum(t)[k]; });
          x.by_column_sum(t)[j] = -by_v * x.v(t)[j] * x.v(t)[j];
        });
        group.each(x.n, [&](int64_t k) {
          const double by_u = x.over_row(k, [&](int64_t j) { return x.by_column_sum(t)[j]; });
          x.by_row_sum(t - 1)[k] = -by_u * x.u(t - 1)[k] * x.u(t - 1)[k];
        });
      }
      // of every row the mean of its entries' derivatives, which softmax takes off
      group.each(x.n,
                 [&](int64_t k) { spread[k] = x.over_row(k, [&](int64_t j) { return by_entry(x, last, k, j); }); });
      // the derivative by every A_j / tau, where a zeroth iteration would have its own
      group.each(x.n, [&](int64_t j) {
        x.by_column_sum(0)[j] = -x.over_column(j, [&](int64_t k) { return by_entry(x, last, k, j) - spread[k]; });
      });
    }

    /// What the value changes with an entry of the matrix.
    MR_HD double by_entry(const NeuralSort& x, int64_t last, int64_t k, int64_t j) const {
      double sum = -discount[k] * x.u(last)[k] * gain[j] * x.v(last)[j];
      for (int64_t t = 1; t <= last; ++t) sum += x.by_row_sum(t)[k] * x.v(t)[j] + x.u(t - 1)[k] * x.by_column_sum(t)[j];
      return sum;
    }

    MR_HD double by_score(const NeuralSort& x, int64_t last, int64_t j) const {
      double sum = x.over_column(j, [&](int64_t k) { return x.step(k) * (by_entry(x, last, k, j) - spread[k]); });
      for (int64_t l = 0; l < x.n; ++l) {
        const double sign = x.f[j] > x.f[l] ? 1 : x.f[j] < x.f[l] ? -1 : 0;
        sum += sign * (x.by_column_sum(0)[j] + x.by_column_sum(0)[l]) / x.tau;
      }
      return sum;
    }
  };
};

}  // namespace mr
