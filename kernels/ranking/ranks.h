// Ranks of short lists by comparing each row with every other row. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

struct RankLoops {
  /// For lists of up to this many rows, counting is faster than sorting.
  int64_t most;
  /// Computes places[i] = how many of n scores (no NaN) are higher than score i, or are equal to it with a lower row
  /// number.
  void (*count)(const float* scores, int64_t n, int32_t* places);
};

inline const RankLoops& rank_loops() { return chosen_loops<RankLoops>(); }

}  // namespace mr::cpu
