// The CPU's inner loops of SoftRank (soft_rank.h), compiled once per instruction set: the same bits as its plain form.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

struct SoftRankLoops {
  /// Arrays of rows are so many entries longer than said, with anything in them.
  static constexpr int64_t padding = 8;
  /// Rows of `worth` together; `up` and `changes` have a multiple of it.
  static constexpr int64_t block = 32;

  /// below[i] = Phi(z_i), density[i] = its derivative.
  void (*normal)(const double* z, int64_t n, double* below, double* density);
  /// The distribution of a row's rank, ranks[0 .. rows - 1], where another row is above it with probability `up`; then
  /// it has one rank more. Before the first and after the last stands 0.
  void (*one_more)(double* ranks, int64_t rows, double up);
  /// changes[i] = what the expected discount changes where the row that is above with probability up_i was certainly
  /// below and is certainly above; steps[r] = discount r + 1 - discount r, `count` rows. All of up are at most 1/2
  /// where they are `likely_below`, else at least that.
  void (*worth)(const double* ranks, const double* steps, int64_t n, const double* up, int64_t count, bool likely_below,
                double* changes);
};

inline const SoftRankLoops& soft_rank_loops() { return chosen_loops<SoftRankLoops>(); }

}  // namespace mr::cpu
