// The relaxed permutation matrix of NeuralSort (Grover et al. 2019), scaled by Sinkhorn's iterations. Row k says which
// rows of the list have rank k, K_kj = softmax over j of ((n + 1 - 2k) f_j - A_j) / tau, A_j = sum over l of |f_j -
// f_l|; scaling makes its columns add up to 1, too: P_kj = u_k K_kj v_j. No matrix is stored: K_kj is made anew from
// f_j, A_j and the normaliser of row k wherever it is read. O(iterations n^2) time; memory per row `slots(iterations)`
// numbers.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/logarithms.h"

namespace mr {

/// Sums over a row or column of the matrix: out[w] = sum over i < n of e^(a x_i - b_i - c) weights[w][i].
struct PlainSums {
  template <int count>
  static MR_HD void add(const double* x, double a, const double* b, double c, const double* const (&weights)[count],
                        int64_t n, double (&out)[count]) {
    for (double& sum : out) sum = 0;
    for (int64_t i = 0; i < n; ++i) {
      const double entry = portable::exp(a * x[i] - b[i] - c);
      for (int w = 0; w < count; ++w) out[w] += entry * weights[w][i];
    }
  }
};

/// Of one list. Ranks k count from 0 here. With `keeps` the scalings of every iteration are kept, else of the last two.
/// O(iterations n^2) time; `slots(iterations)` numbers of memory per row.
template <class Sums>
struct NeuralSort {
  int64_t n;
  double tau;
  bool keeps;
  double *f, *away, *normaliser, *steps, *kept;

  static constexpr MR_HD int64_t slots(int64_t iterations) { return 4 + 2 * (iterations + 1); }

  MR_HD NeuralSort(double* memory, int64_t rows, double temperature, bool keeps_all)
      : n(rows),
        tau(temperature),
        keeps(keeps_all),
        f(memory),
        away(memory + rows),
        normaliser(memory + 2 * rows),
        steps(memory + 3 * rows),
        kept(memory + 4 * rows) {}

  /// Scalings of rows and of columns.
  MR_HD double* u(int64_t iteration) const { return slot(iteration, 0); }
  MR_HD double* v(int64_t iteration) const { return slot(iteration, 1); }

  MR_HD double over_row(int64_t k, const double* weights) const {
    double sum[1];
    Sums::template add<1>(f, steps[k], away, normaliser[k], {weights}, n, sum);
    return sum[0];
  }
  template <int count>
  MR_HD void over_column(int64_t j, const double* const (&weights)[count], double (&out)[count]) const {
    Sums::template add<count>(steps, f[j], normaliser, away[j], weights, n, out);
  }
  MR_HD double over_column(int64_t j, const double* weights) const {
    double sum[1];
    over_column<1>(j, {weights}, sum);
    return sum[0];
  }

  /// Fills in all of the matrix before it is scaled. An infinite score stands so far beyond the finite ones that
  /// nothing of it is left at other ranks.
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
    group.each(n, [&](int64_t j) {
      double sum = 0;
      for (int64_t l = 0; l < n; ++l) sum += std::fabs(f[j] - f[l]);
      away[j] = sum / tau;
    });
    group.each(n, [&](int64_t k) {
      double top = -HUGE_VAL, total = 0;
      for (int64_t j = 0; j < n; ++j) top = logit(k, j) > top ? logit(k, j) : top;
      for (int64_t j = 0; j < n; ++j) total += portable::exp(logit(k, j) - top);
      normaliser[k] = top + portable::log(total);
    });
  }

  /// Scales columns and rows in turn until all columns add up to 1 within `tolerance`; the number of the last
  /// iteration.
  template <class Group>
  MR_HD int64_t scale(const Group& group, int64_t iterations, double tolerance) const {
    for (int64_t t = 1; t <= iterations; ++t) {
      group.each(n, [&](int64_t j) { v(t)[j] = 1 / over_column(j, u(t - 1)); });
      // 1 / v(t)_j is what column j adds up to before v_j
      const double off = group.max(n, 0.0, [&](int64_t j) { return std::fabs(v(t - 1)[j] / v(t)[j] - 1); });
      if (t > 1 && off < tolerance) return t - 1;
      group.each(n, [&](int64_t k) { u(t)[k] = 1 / over_row(k, v(t)); });
    }
    return iterations;
  }

 private:
  MR_HD double logit(int64_t k, int64_t j) const { return steps[k] * f[j] - away[j]; }
  MR_HD double* slot(int64_t iteration, int which) const {
    return kept + (2 * (keeps ? iteration : iteration % 2) + which) * n;
  }
};

}  // namespace mr
