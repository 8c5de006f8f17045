// The characteristic function of a metric over random rankings, one frequency at a time. It is the reference form of
// kernels/bounds/characteristic_cpu.h and the form that the GPU runs. The row at each rank is relevant with probability
// (relevant rows left) / (rows left). State c holds the sum, over all ways to have c relevant rows so far, of
// probability times exp(i t (metric value so far)). With sampling weights, rows are drawn without replacement (Plackett
// 1975, Luce 1959), and both counts in the probability are multiplied by the weights of their rows.
#pragma once

#include "kernels/core/angles.h"
#include "kernels/core/view.h"

namespace mr {

/// Computes E exp(i t X), the characteristic function of a metric X, at equally spaced frequencies t. Calls f = 0, 1,
/// ... compute the frequencies (first + f) * step. The factor `step` is contained in `angle`.
template <class Real>
struct CharacteristicFunction {
  int64_t n = 0, p = 0;
  double weight = 1;  // sampling weight of a relevant row; other rows have weight 1
  // true for average precision: the c-th relevant row from the top adds c times the entry of `angle` for its rank
  bool cumulative = false;
  // [n]: entry r has the least (low) and the largest (high) number of relevant rows in the first r + 1 ranks that is
  // not negligibly rare
  Span<const int32_t> low, high;
  // [n]: entry r is what a relevant row at rank r adds to the metric, times the distance between two neighbouring
  // frequencies
  Span<const double> angle;
  int64_t first = 1, frequencies = 0;
  // [p + 2][2][frequencies]: real and imaginary part, at each frequency, of the state for c relevant rows so far, c =
  // -1 .. p
  Span<double> state;
  Span<double> re, im;

  MR_HD void operator()(int64_t f) const {
    const auto t = static_cast<double>(first + f);
    for (int64_t c = -1; c <= p; ++c) at(c, 0, f) = at(c, 1, f) = 0;
    at(0, 0, f) = 1;
    int64_t before = 0;
    for (int64_t r = 0; r < n; ++r) {
      double above_re = at(low[r] - 1, 0, f), above_im = at(low[r] - 1, 1, f);
      for (int64_t c = low[r]; c <= high[r]; ++c) {
        const double turn = t * angle[r] * (cumulative ? static_cast<double>(c) : 1.0);
        const double cosine = portable::cos(turn), sine = portable::sin(turn);
        const double hit = wanted(c - 1) / (wanted(c - 1) + others(r, c - 1));
        const double miss = others(r, c) / (wanted(c) + others(r, c));
        const double x = at(c, 0, f), y = at(c, 1, f);
        at(c, 0, f) = miss * x + hit * (cosine * above_re - sine * above_im);
        at(c, 1, f) = miss * y + hit * (cosine * above_im + sine * above_re);
        above_re = x;
        above_im = y;
      }
      for (int64_t c = before; c < low[r]; ++c) at(c, 0, f) = at(c, 1, f) = 0;
      before = low[r];
    }
    re[f] = at(p, 0, f);
    im[f] = at(p, 1, f);
  }

 private:
  /// Returns the total sampling weight of the relevant rows that remain after c of them were drawn. `others` returns
  /// the total weight of the other rows that remain at rank r.
  MR_HD double wanted(int64_t c) const { return static_cast<double>(p - c) * weight; }
  MR_HD double others(int64_t r, int64_t c) const { return static_cast<double>(n - r - (p - c)); }
  MR_HD double& at(int64_t c, int64_t part, int64_t f) const { return state[((c + 1) * 2 + part) * frequencies + f]; }
};

/// Computes characteristic functions for many shapes of lists (rows, relevant rows) in one launch. All have the same
/// number of frequencies.
template <class Real>
struct CharacteristicFunctions {
  Span<const CharacteristicFunction<Real>> shapes;
  int64_t frequencies;
  MR_HD void operator()(int64_t i) const { shapes[i / frequencies](i % frequencies); }
};

}  // namespace mr
