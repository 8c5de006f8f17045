// Sums over rows and columns of a relaxed permutation matrix (neural_sort.h), compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

struct NeuralSumLoops {
  static constexpr int most = 3;
  /// out[w] = sum over i < n of e^(a x_i - b_i - c) weights[w][i], w < count; an exponent is at most 1.
  void (*add)(const double* x, double a, const double* b, double c, const double* const* weights, int count, int64_t n,
              double* out);
};

inline const NeuralSumLoops& neural_sum_loops() { return chosen_loops<NeuralSumLoops>(); }

}  // namespace mr::cpu
