// The CPU's inner loops over a relaxed permutation matrix (neural_sort.h), compiled once per instruction set. Vectors
// are padded to a multiple of `block`; the weights of the padding are 0.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

struct NeuralSumLoops {
  static constexpr int64_t block = 8;
  static constexpr int most = 3, together = 4;

  /// out[w] = sum over i < n of e^(a x_i - b_i - c) weights[w][i], w < count. Exponents are at most 1.
  void (*add)(const double* x, double a, const double* b, double c, const double* const* weights, int count, int64_t n,
              double* out);
  /// out[i] = e^(a x_i - b_i - c), 0 past the n-th.
  void (*entries)(const double* x, double a, const double* b, double c, int64_t n, double* out);
  /// Weighted sums of `together` rows that are n entries apart, where n is a multiple of `block`: out[r count + w] =
  /// sum over i of row r's entry i times weights[w][i]. They have the same bits as the sums of `add`.
  void (*weigh)(const double* entries, const double* const* weights, int count, int64_t n, double* out);

  // Each of the functions below computes sums for `block` rows or columns of the matrix, beginning at `first`.

  /// sums[j - first] = sum over l < n of |f_j - f_l|.
  void (*distances)(const double* f, int64_t first, int64_t n, double* sums);
  /// tops[k - first] = the largest steps_k f_j - away_j over j < n; totals[k - first] = sum over j
  /// of e^(steps_k f_j - away_j - largest).
  void (*row_sums)(const double* steps, const double* f, const double* away, int64_t first, int64_t n, double* tops,
                   double* totals);
  /// sums[j - first] = sum over l < n of sign(f_j - f_l) (by_j + by_l).
  void (*signs)(const double* f, const double* by, int64_t first, int64_t n, double* sums);
};

inline const NeuralSumLoops& neural_sum_loops() { return chosen_loops<NeuralSumLoops>(); }

}  // namespace mr::cpu
