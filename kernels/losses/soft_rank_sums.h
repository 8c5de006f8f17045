// The CPU's inner loops of SoftRank (soft_rank.h), compiled once per instruction set. Their results have the same bits
// as those of soft_rank.h.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

struct SoftRankLoops {
  /// Number of spare entries that an array needs after its rows, because loops read and write whole SIMD vectors.
  static constexpr int64_t padding = 8;
  /// number of rows that one step of `worth` computes together; the caller pads `up` and `changes` to a multiple of it
  static constexpr int64_t block = 32;

  /// Computes below[i] = Phi(z_i), the normal distribution function, and density[i] = its derivative.
  void (*normal)(const double* z, int64_t n, double* below, double* density);
  /// Updates the distribution of a row's rank, ranks[0 .. rows - 1], when one more row is compared with it, which is
  /// above it with probability `up`. The distribution gets one more rank. ranks[-1] and the entry after the last rank
  /// must be 0.
  void (*one_more)(double* ranks, int64_t rows, double up);
  /// Computes, for `count` rows i, changes[i]: how much the expected discount of a certain row j changes if row i
  /// moves from certainly below j to certainly above. `ranks` has the distribution of j's rank, and up_i is the
  /// probability that row i is above j. steps[r] is discounts[r + 1] - discounts[r]. If `likely_below`, every up_i
  /// must be at most 1/2, else at least 1/2.
  void (*worth)(const double* ranks, const double* steps, int64_t n, const double* up, int64_t count, bool likely_below,
                double* changes);
};

inline const SoftRankLoops& soft_rank_loops() { return chosen_loops<SoftRankLoops>(); }

}  // namespace mr::cpu
