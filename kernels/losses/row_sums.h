// The CPU's inner loops of losses over rows, compiled once per instruction set. Arrays of scores are padded to a
// multiple of `row_padding` with - infinity, which adds nothing to sums of exponentials.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

constexpr int64_t row_padding = 8;

struct RowLoops {
  /// Computes powers[i] = e^(x_i - top) and returns their sum; `top` is the largest of x.
  double (*exponentials)(const double* x, double top, int64_t n, double* powers);
  /// Computes slopes[i] = sigma(t_i) and returns the sum of log(1 + e^t_i). t may be any number except NaN.
  double (*logistic)(const double* t, int64_t n, double* slopes);
  /// Computes values[i] = log(1 + e^t_i) and slopes[i] = sigma(t_i). The results have the same bits as those of
  /// PlainMath::softplus (pair_forms.h).
  void (*softplus)(const double* t, int64_t n, double* values, double* slopes);
  /// Returns the sum of x. The result has the bits of adding from the first entry to the last. If all entries are
  /// integers, they may be added in any order, because such sums are exact.
  double (*sum)(const double* x, int64_t n);
  /// Returns the largest of x, or - infinity if n is 0.
  double (*largest)(const double* x, int64_t n);
  /// Returns the cross entropy of softmax(x) and the targets: the sum of targets_i (log_total - (x_i - top)) over
  /// targets_i > 0, from the first entry to the last. Writes the terms to `terms`.
  double (*cross_entropy)(const double* x, const double* targets, double top, double log_total, int64_t n,
                          double* terms);
  /// Computes the derivatives of a softmax cross entropy by the scores: slopes[i] = mass powers_i / total - targets_i,
  /// where `mass` is the sum of the targets and powers_i / total the softmax. `slopes` may be the same array as
  /// `powers`.
  void (*cross_entropy_slopes)(const double* powers, const double* targets, double mass, double total, int64_t n,
                               double* slopes);
  /// x[i] /= total.
  void (*divide)(double* x, double total, int64_t n);
  /// Computes values[i] = sigma(x_i - f), how far row i is above a row with score f, and slopes[i] = the derivative of
  /// sigma there. Equal scores differ by 0, even if infinite. The results have the same bits as those of
  /// smooth_rank.h.
  void (*above)(const double* x, double f, int64_t n, double* values, double* slopes);

  // `climf` and `tfmap` take one relevant row, with score g, and the rows with scores f, and add the loss terms of
  // each pair. Their results have the same bits as those of own_scores.h.

  /// For every i, adds CLiMF's value of the pair of scores f_i and g to sums[i], and its derivative by f_i to
  /// slopes[i].
  void (*climf)(const double* f, double g, int64_t n, double* sums, double* slopes);
  /// For every i, adds TFMAP's value of the pair of scores f_i and g to sums[i], and its derivative by f_i to
  /// slopes[i]. The caller passes sigma_i = sigma(f_i), curve_i = - sigma(f_i) sigma(- f_i) and sigma_g = sigma(g).
  void (*tfmap)(const double* f, const double* sigma, const double* curve, double g, double sigma_g, int64_t n,
                double* sums, double* slopes);
};

inline const RowLoops& row_loops() { return chosen_loops<RowLoops>(); }

}  // namespace mr::cpu
