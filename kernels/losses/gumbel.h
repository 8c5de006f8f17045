// Gumbel noise of random rankings on the CPU (plackett_luce.h), compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/rng.h"
#include "kernels/core/simd.h"

namespace mr::cpu {

struct GumbelLoops {
  /// Noise of n rows, the first of which has the number `row`, for two rankings: the bits of RandomKeys, of both halves
  /// of philox(key, row + i, pair).
  void (*noise)(RandomKey key, uint64_t row, uint64_t pair, int64_t n, double* first, double* second);
};

inline const GumbelLoops& gumbel_loops() { return chosen_loops<GumbelLoops>(); }

}  // namespace mr::cpu
