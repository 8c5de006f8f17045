// The CPU's inner loops over a relaxed permutation matrix (neural_sort.h), compiled once per instruction set. Vectors
// are padded to a multiple of `block`; the weights of the padding are 0.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

struct NeuralSumLoops {
  static constexpr int64_t block = 8;
  static constexpr int most = 3, together = 4;

  /// Computes out[w] = sum over i < n of e^(a x_i - b_i - c) weights[w][i], for w < count. Exponents are at most 1.
  void (*add)(const double* x, double a, const double* b, double c, const double* const* weights, int count, int64_t n,
              double* out);
  /// Computes out[i] = e^(a x_i - b_i - c), and 0 for i >= n.
  void (*entries)(const double* x, double a, const double* b, double c, int64_t n, double* out);
  /// Computes weighted sums of `together` rows, which are n entries apart, where n is a multiple of `block`: out[r
  /// count + w] = sum over i of row r's entry i times weights[w][i]. They have the same bits as the sums of `add`.
  void (*weigh)(const double* entries, const double* const* weights, int count, int64_t n, double* out);

  // Each of the functions below computes sums for `block` rows or columns of the matrix, beginning at `first`.

  /// Computes sums[j - first] = sum over l < n of |f_j - f_l|.
  void (*distances)(const double* f, int64_t first, int64_t n, double* sums);
  /// For each row k of the matrix, computes the maximum of its logits steps_k f_j - away_j over j < n into tops[k -
  /// first], and the sum over j of e^(logit - maximum) into totals[k - first].
  void (*row_sums)(const double* steps, const double* f, const double* away, int64_t first, int64_t n, double* tops,
                   double* totals);
  /// Computes sums[j - first] = sum over l < n of sign(f_j - f_l) (by_j + by_l).
  void (*signs)(const double* f, const double* by, int64_t first, int64_t n, double* sums);
};

inline const NeuralSumLoops& neural_sum_loops() { return chosen_loops<NeuralSumLoops>(); }

}  // namespace mr::cpu
