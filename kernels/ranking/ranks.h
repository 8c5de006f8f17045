// Ranks of short lists by counting: which rows stand before a row is a comparison with each, done for many rows at a
// time. Compiled once per instruction set (ranks_*.cpp) and chosen when the program starts.
#pragma once

#include <cstdint>

namespace mr::cpu {

struct RankLoops {
  /// Rows up to which counting is quicker than sorting.
  int64_t most;
  /// places[i] = how many of n scores (no NaN) are higher than score i, or equal to it and before it.
  void (*count)(const float* scores, int64_t n, int32_t* places);
};

const RankLoops& rank_loops();

/// The same on one instruction set, whether or not the processor has it.
namespace scalar {
RankLoops ranks();
}
namespace avx2 {
RankLoops ranks();
}
namespace avx512 {
RankLoops ranks();
}

}  // namespace mr::cpu
