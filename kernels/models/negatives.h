// Drawn negatives of an interaction on the CPU (interactions.h), compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"
#include "kernels/models/interactions.h"

namespace mr::cpu {

/// number of negatives that the vector loop draws together
constexpr int64_t negatives_block = 64;
/// Gaps (for each of a user's items, the number of smaller items that the user does not have) are followed by so many
/// entries of the largest int32.
constexpr int64_t gaps_padding = 32;
/// The number of places for which one call of `random` computes random bits is a multiple of this one.
constexpr int64_t random_block = 8;
/// number of gaps around the guess that `items_before` compares
constexpr int64_t gaps_window = 32;
static_assert(gaps_window <= gaps_padding);

struct NegativeLoops {
  /// Writes the negatives number `first` to first + count - 1 of an interaction, where count is at most
  /// negatives_block and `first` is a multiple of 4. gaps[m] is the number of unknown items (which the user does not
  /// have) below the user's m-th item. Returns false if one of the random integers must be drawn again
  /// (UniformDraws::again); then `out` is not valid.
  bool (*write)(const UniformDraws::State& draws, int64_t first, Span<const int32_t> gaps, int64_t count, int64_t* out);
  /// Computes out[i] = philox(key, blocks[i], steps[i]) for i < n. n is a multiple of random_block.
  void (*random)(RandomKey key, const uint64_t* blocks, const uint64_t* steps, int64_t n, Random128* out);
  /// Returns how many of a user's gaps are at most `rank`, if that is inside the window around `guess`, or else -1.
  int64_t (*items_before)(Span<const int32_t> gaps, int64_t rank, int64_t guess);
};

}  // namespace mr::cpu
