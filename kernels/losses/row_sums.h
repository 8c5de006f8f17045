// The CPU's inner loops of losses over rows, compiled once per instruction set. Arrays of scores are padded to a
// multiple of `row_padding` with - infinity, which adds nothing to sums of exponentials.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

constexpr int64_t row_padding = 8;

struct RowLoops {
  /// Computes powers[i] = e^(x_i - top) and returns their sum; `top` is the largest of x.
  double (*exponentials)(const double* x, double top, int64_t n, double* powers);
  /// Computes slopes[i] = sigma(t_i) and returns the sum of log(1 + e^t_i). t may be any number except NaN.
  double (*logistic)(const double* t, int64_t n, double* slopes);
  /// Returns the sum of x, with the rounding of a sum from the first to the last entry. Sums of integers are exact in
  /// any order.
  double (*sum)(const double* x, int64_t n);
  /// Returns the largest of x, or - infinity if n is 0.
  double (*largest)(const double* x, int64_t n);
  /// Returns the sum, from the first to the last entry, of targets_i (log_total - (x_i - top)) over targets_i > 0.
  /// Writes the terms to `terms`.
  double (*cross_entropy)(const double* x, const double* targets, double top, double log_total, int64_t n,
                          double* terms);
  /// Computes slopes[i] = mass powers_i / total - targets_i. `slopes` may be `powers`.
  void (*cross_entropy_slopes)(const double* powers, const double* targets, double mass, double total, int64_t n,
                               double* slopes);
  /// x[i] /= total.
  void (*divide)(double* x, double total, int64_t n);
  /// Computes values[i] = sigma(x_i - f) and slopes[i] = its derivative, where equal infinities differ by 0. The bits
  /// are those of smooth_rank.h.
  void (*above)(const double* x, double f, int64_t n, double* values, double* slopes);

  // `climf` and `tfmap` add the terms of a relevant row with score g to the rows with scores f. Their results have the
  // same bits as those of own_scores.h.

  /// Adds CLiMF's value of a pair to sums and its slope to slopes.
  void (*climf)(const double* f, double g, int64_t n, double* sums, double* slopes);
  /// Adds TFMAP's value of a pair to sums and its slope to slopes, where sigma_i = sigma(f_i), curve_i = - sigma(f_i)
  /// sigma(- f_i), sigma_g = sigma(g).
  void (*tfmap)(const double* f, const double* sigma, const double* curve, double g, double sigma_g, int64_t n,
                double* sums, double* slopes);
};

inline const RowLoops& row_loops() { return chosen_loops<RowLoops>(); }

}  // namespace mr::cpu
