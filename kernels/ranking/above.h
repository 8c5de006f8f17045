// Counts how many scores of a list are above each of a few given scores. The counts give the ranks of the list's few
// relevant rows without sorting. Compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

template <class Real>
struct AboveLoops {
  static constexpr int bounds = 4;
  /// Counts how many of n scores (no NaN) are higher than bound b (above[b]) and equal to it (tied[b]).
  void (*count)(const Real* scores, int64_t n, const Real* bounds, int32_t* above, int32_t* tied);
};

template <class Real>
const AboveLoops<Real>& above_loops() {
  return chosen_loops<AboveLoops<Real>>();
}

}  // namespace mr::cpu
