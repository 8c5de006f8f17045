// The CPU's inner loops of SoftRank (soft_rank.h), compiled once per instruction set. Their results have the same bits
// as those of soft_rank.h.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

struct SoftRankLoops {
  /// Arrays of rows have this many more entries than rows, with any values.
  static constexpr int64_t padding = 8;
  /// number of rows that `worth` computes together; the lengths of `up` and `changes` are multiples of it
  static constexpr int64_t block = 32;

  /// Computes below[i] = Phi(z_i), the normal distribution function, and density[i] = its derivative.
  void (*normal)(const double* z, int64_t n, double* below, double* density);
  /// Adds another row to the distribution of a row's rank, ranks[0 .. rows - 1]. The other row is above with
  /// probability `up`. The distribution gets one more rank. ranks[-1] and the entry after the last rank are 0.
  void (*one_more)(double* ranks, int64_t rows, double up);
  /// Computes changes[i] = the change of another row's expected discount if row i, which is above with probability
  /// up_i, moves from certainly below to certainly above. steps[r] = discount r + 1 - discount r. There are `count`
  /// rows. Every up_i is at most 1/2 if `likely_below`, else at least 1/2.
  void (*worth)(const double* ranks, const double* steps, int64_t n, const double* up, int64_t count, bool likely_below,
                double* changes);
};

inline const SoftRankLoops& soft_rank_loops() { return chosen_loops<SoftRankLoops>(); }

}  // namespace mr::cpu
