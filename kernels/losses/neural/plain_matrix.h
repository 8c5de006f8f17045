// The relaxed permutation matrix of a list (neural_sort.h). Its entries are computed whenever they are read, not
// stored.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/logarithms.h"

namespace mr {

/// The vectors that determine the matrix of a list: `f` has scores, `away` A_j / tau, `normaliser` the logarithms of
/// the sums of rows before they are divided, steps (n - 1 - 2k) / tau for ranks k from 0.
struct NeuralVectors {
  int64_t n;
  double tau;
  double *f, *away, *normaliser, *steps;

  /// Places the vectors in `memory`, `apart` numbers from each other.
  MR_HD NeuralVectors(int64_t rows, double temperature, double* memory, int64_t apart)
      : n(rows),
        tau(temperature),
        f(memory),
        away(memory + apart),
        normaliser(memory + 2 * apart),
        steps(memory + 3 * apart) {}

  MR_HD double logit(int64_t k, int64_t j) const { return steps[k] * f[j] - away[j]; }
};

/// Computes each entry of the matrix whenever it is read, and stores none.
struct PlainMatrix {
  /// Computes `away` (A_j / tau, with A_j the sum of |f_j - f_l| over all rows l) and `normaliser` (the logarithm of
  /// the softmax sum of each matrix row).
  template <class Group>
  MR_HD void prepare(const Group& group, const NeuralVectors& x) const {
    group.each(x.n, [&](int64_t j) {
      double sum = 0;
      for (int64_t l = 0; l < x.n; ++l) sum += std::fabs(x.f[j] - x.f[l]);
      x.away[j] = sum / x.tau;
    });
    group.each(x.n, [&](int64_t k) {
      double top = -HUGE_VAL, total = 0;
      for (int64_t j = 0; j < x.n; ++j) top = x.logit(k, j) > top ? x.logit(k, j) : top;
      for (int64_t j = 0; j < x.n; ++j) total += portable::exp(x.logit(k, j) - top);
      x.normaliser[k] = top + portable::log(total);
    });
  }

  /// Multiplies the matrix K by vectors: calls then(k, sums) for every row k, with sums[w] = sum over j of K_kj
  /// weights[w][j].
  template <int count, class Group, class Then>
  MR_HD void over_rows(const Group& group, const NeuralVectors& x, const double* const (&weights)[count],
                       Then then) const {
    group.each(x.n, [&](int64_t k) {
      double sums[count];
      add(x.f, x.steps[k], x.away, x.normaliser[k], weights, x.n, sums);
      then(k, sums);
    });
  }

  /// Multiplies the transposed matrix K by vectors: calls then(j, sums) for every column j, with sums[w] = sum over k
  /// of K_kj weights[w][k].
  template <int count, class Group, class Then>
  MR_HD void over_columns(const Group& group, const NeuralVectors& x, const double* const (&weights)[count],
                          Then then) const {
    group.each(x.n, [&](int64_t j) {
      double sums[count];
      add(x.steps, x.f[j], x.normaliser, x.away[j], weights, x.n, sums);
      then(j, sums);
    });
  }

  /// Calls then(j, sum over rows l of sign(f_j - f_l) (by_j + by_l)) for every row j with score f_j.
  template <class Group, class Then>
  MR_HD void over_signs(const Group& group, const NeuralVectors& x, const double* by, Then then) const {
    group.each(x.n, [&](int64_t j) {
      double sum = 0;
      for (int64_t l = 0; l < x.n; ++l) {
        const double sign = x.f[j] > x.f[l] ? 1 : x.f[j] < x.f[l] ? -1 : 0;
        sum += sign * (by[j] + by[l]);
      }
      then(j, sum);
    });
  }

 private:
  /// Computes out[w] = sum over i < n of e^(a x_i - b_i - c) weights[w][i].
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

}  // namespace mr
