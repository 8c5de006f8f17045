// Gumbel noise of random rankings on the CPU (plackett_luce.h), compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/rng.h"
#include "kernels/core/simd/simd.h"

namespace mr::cpu {

struct GumbelLoops {
  /// Draws the Gumbel noise of rows `row` to `row` + n - 1 for two rankings, which share the random bits philox(key,
  /// row + i, pair). The noise has the same bits as that of RandomKeys (plackett_luce.h).
  void (*noise)(RandomKey key, uint64_t row, uint64_t pair, int64_t n, double* first, double* second);
};

inline const GumbelLoops& gumbel_loops() { return chosen_loops<GumbelLoops>(); }

}  // namespace mr::cpu
