// The CPU's inner loops over pairs of rows for smooth ranks, compiled once per instruction set. The loops need one
// exponential per row and none per pair (pair_ratio.h).
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"
#include "kernels/smooth/pair_ratio.h"

namespace mr::cpu {

/// Arrays of source rows (rows summed over) are padded to a multiple of this number. Padding has exponential e = 0 and
/// weight 0, so it adds nothing to sums.
constexpr int64_t pair_padding = 16;

/// Loops over pairs of sources (rows summed over) and targets (rows ranked). Array e has the exponentials of n sources,
/// where n is a multiple of pair_padding, and t those of m targets.
template <class Real>
struct PairLoops {
  /// Finds the least and the largest of n >= 1 scores.
  void (*range)(const Real* scores, int64_t n, Real* low, Real* high);
  /// Computes x[j] = exp(steepness (x[j] - centre)), where n is a multiple of pair_padding and |exponents| <= 350.
  void (*exponentials)(Real* x, int64_t n, double steepness, double centre);
  /// Computes sums[i] = sum_j e_j / (t_i + e_j): the sigmoids of a smooth rank, from exponentials e of sources and t of
  /// targets.
  void (*rank_sums)(const Real* e, int64_t n, const Real* t, int64_t m, double* sums);
  /// Computes totals[j] += sum_i g_i k_ij and sums[i] = sum_j k_ij. k_ij is the derivative of the sigmoid for target i
  /// and source j, and g_i is a weight of the target.
  void (*kernel_sums)(const Real* e, int64_t n, const Real* t, const Real* g, int64_t m, double* totals, double* sums);
  /// Computes sums[i] = sum_j (w_j - v_i) k_ij, for weights w of the sources and v of the targets. k_ij is the
  /// derivative of the sigmoid for target i and source j.
  void (*kernel_differences)(const Real* e, const Real* w, int64_t n, const Real* t, const Real* v, int64_t m,
                             double* sums);
  /// Computes products[i] = prod_j t_i / (t_i + e_j) for positive t_i, where e and t are exponentials of scores. A
  /// product below the least normal number becomes 0.
  void (*products)(const Real* e, int64_t n, const Real* t, int64_t m, double* products);
  /// Computes sums[i] = sum_j (v_i e_j - w_j t_i) / (t_i + e_j) for positive t_i. e and t are exponentials of scores, w
  /// and v weights of sources and of targets.
  void (*ratio_differences)(const Real* e, const Real* w, int64_t n, const Real* t, const Real* v, int64_t m,
                            double* sums);
  /// Computes values[j] = sigma(t_j) and slopes[j], the sigmoid's derivative at t_j. t_j must not be NaN; n is a
  /// multiple of pair_padding.
  void (*sigmoids)(const double* t, int64_t n, double* values, double* slopes);
  /// Computes the discounts of DCG at n ranks in `values`, and their derivatives by the rank in `slopes`.
  void (*discounts)(const Real* ranks, int64_t n, double* values, double* slopes);
};

template <class Real>
const PairLoops<Real>& pair_loops() {
  return chosen_loops<PairLoops<Real>>();
}

}  // namespace mr::cpu
