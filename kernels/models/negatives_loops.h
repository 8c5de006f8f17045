// The loop of negatives.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD.
#include <cstring>

#include "kernels/core/simd/lanes.h"
#include "kernels/core/simd/philox_lanes.h"
#include "kernels/models/negatives.h"

namespace mr::cpu::MR_SIMD {
namespace {

typedef int32_t Ranks __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
constexpr int64_t ranks_per_vector = MR_VECTOR_BYTES / sizeof(int32_t);
/// `write` reads gaps in groups of this size, and so at most this number of entries of the padding.
constexpr int64_t gaps_at_once = 16;
static_assert(gaps_at_once <= gaps_padding);

/// Stores a[0], b[0], a[1], b[1] and so on.
inline void store_alternating(Bits a, Bits b, int32_t* to) {
#if MR_VECTOR_BYTES == 64
  const Bits first = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
  const Bits second = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#elif MR_VECTOR_BYTES == 32
  const Bits first = __builtin_shufflevector(a, b, 0, 4, 1, 5);
  const Bits second = __builtin_shufflevector(a, b, 2, 6, 3, 7);
#else
  const Bits first = __builtin_shufflevector(a, b, 0, 2);
  const Bits second = __builtin_shufflevector(a, b, 1, 3);
#endif
  std::memcpy(to, &first, sizeof first);
  std::memcpy(to + ranks_per_vector, &second, sizeof second);
}

/// Draws the integers of UniformDraws::write. Returns false if one of them must be drawn again.
inline bool draw_ranks(const UniformDraws::State& draws, int64_t first, int32_t* ranks) {
  constexpr auto lanes = static_cast<int64_t>(sizeof(Bits) / sizeof(uint64_t));
  const Bits n = draws.n - Bits{};
  const uint64_t least = draws.least();
  Bits number, again{};
  for (int64_t l = 0; l < lanes; ++l) number[l] = (draws.row | static_cast<uint64_t>(first / 4)) + l;
  for (int64_t d = 0; d < negatives_block; d += 4 * lanes, number += static_cast<uint64_t>(lanes)) {
    Bits words[4];
    draw(draws.key, number, draws.step, words);
    for (Bits& word : words) {
      const Bits product = multiply(word, n);
      again |= reinterpret_cast<Bits>((product & low_half) < least);
      word = product >> 32;
    }
    store_alternating(words[0] | words[1] << 32, words[2] | words[3] << 32, ranks + d);
  }
  uint64_t any = 0;
  for (int64_t l = 0; l < lanes; ++l) any |= again[l];
  return any == 0;
}

/// For each rank, counts how many of every stride-th gap are not larger. The m-th gap is the number of items below the
/// user's m-th item that the user does not have.
inline void count_every(Span<const int32_t> gaps, int64_t stride, const int32_t* ranks, int32_t* counts) {
  constexpr int64_t together = 4;
  for (int64_t d = 0; d < negatives_block; d += together * ranks_per_vector) {
    Ranks rank[together], sum[together] = {};
    std::memcpy(rank, ranks + d, sizeof rank);
    for (int64_t m = stride - 1; m < gaps.size; m += stride) {
      const Ranks gap = gaps.data[m] - Ranks{};
      for (int64_t v = 0; v < together; ++v) sum[v] -= gap <= rank[v];  // a true lane is -1
    }
    std::memcpy(counts + d, sum, sizeof sum);
  }
}

/// Counts how many of n gaps (numbers of items that the user does not have, below each of the user's items) are at most
/// `rank`. n is a multiple of gaps_at_once.
inline int32_t count_of(const int32_t* gaps, int64_t n, int32_t rank) {
  int32_t count = 0;
#if MR_VECTOR_BYTES == 64
  const __m512i of_rank = _mm512_set1_epi32(rank);
  for (int64_t m = 0; m < n; m += gaps_at_once)
    count += __builtin_popcount(_mm512_cmple_epi32_mask(_mm512_loadu_si512(gaps + m), of_rank));
#else
  for (int64_t m = 0; m < n; ++m) count += static_cast<int32_t>(gaps[m] <= rank);
#endif
  return count;
}

/// Returns the distance of the gaps that count_every compares with all ranks. The others are compared with the ranks
/// that lie between two of these. The sum of both costs is smallest near the square root of the number of gaps.
inline int64_t stride_of(int64_t gaps) {
  constexpr int64_t few = 48;  // about the number of gaps for which both ways take equally long
  if (gaps <= few) return 1;
  int64_t stride = gaps_at_once;
  while (2 * stride * stride < gaps) stride += gaps_at_once;
  return stride;
}

bool write(const UniformDraws::State& draws, int64_t first, Span<const int32_t> gaps, int64_t count, int64_t* out) {
  int32_t ranks[negatives_block], counts[negatives_block];
  if (!draw_ranks(draws, first, ranks)) return false;
  const int64_t stride = stride_of(gaps.size);
  count_every(gaps, stride, ranks, counts);
  if (stride > 1) {
    const int64_t padded = (gaps.size + gaps_at_once - 1) / gaps_at_once * gaps_at_once;
    for (int64_t k = 0; k < count; ++k) {
      const int64_t at = counts[k] * stride;
      counts[k] = static_cast<int32_t>(at) + count_of(gaps.data + at, smaller(stride, padded - at), ranks[k]);
    }
  }
  for (int64_t k = 0; k < count; ++k) out[k] = int64_t{ranks[k]} + counts[k] + 1;
  return true;
}

void random(RandomKey key, const uint64_t* blocks, const uint64_t* steps, int64_t n, Random128* out) {
  constexpr auto lanes = static_cast<int64_t>(sizeof(Bits) / sizeof(uint64_t));
  for (int64_t i = 0; i < n; i += lanes) {
    Bits block, step, words[4];
    std::memcpy(&block, blocks + i, sizeof block);
    std::memcpy(&step, steps + i, sizeof step);
    draw(key, block, step, words);
    store_alternating((words[0] & low_half) | words[1] << 32, (words[2] & low_half) | words[3] << 32,
                      reinterpret_cast<int32_t*>(out + i));
  }
}

int64_t items_before(Span<const int32_t> gaps, int64_t rank, int64_t guess) {
  int64_t begin = smaller(guess - gaps_window / 2, gaps.size - gaps_window);
  begin = begin < 0 ? 0 : begin;
  const int64_t count = count_of(gaps.data + begin, gaps_window, static_cast<int32_t>(rank));
  const bool is_inside = (count > 0 || begin == 0) && (count < gaps_window || begin + gaps_window >= gaps.size);
  return is_inside ? begin + count : -1;
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
NegativeLoops loops_of<NegativeLoops, Simd::MR_SIMD>() {
  return {.write = &MR_SIMD::write, .random = &MR_SIMD::random, .items_before = &MR_SIMD::items_before};
}

}  // namespace mr::cpu
