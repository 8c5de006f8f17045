// Ranks of short lists by counting: which rows stand before a row is a comparison with each, done for many rows at a
// time. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

struct RankLoops {
  /// Rows up to which counting is quicker than sorting.
  int64_t most;
  /// places[i] = how many of n scores (no NaN) are higher than score i, or equal to it and before it.
  void (*count)(const float* scores, int64_t n, int32_t* places);
};

inline const RankLoops& rank_loops() { return chosen_loops<RankLoops>(); }

}  // namespace mr::cpu
