// The loop of ranks.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by ranks_*.cpp only.
#include "kernels/core/simd/lanes.h"
#include "kernels/ranking/ranks.h"

namespace mr::cpu::MR_SIMD {
namespace {

using Scores = Lanes<float>;
typedef int32_t Counts __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef

/// Computes the ranks of rows first to first + vectors * lanes - 1. Rows from n on are padding, and their results are
/// not used.
template <int vectors>
void count_block(const float* scores, int64_t n, int64_t first, const float* block, int32_t* places) {
  constexpr int64_t lanes = Scores::count, rows = vectors * lanes;
  Scores::Vector own[vectors];
  Counts found[vectors] = {}, number[vectors];
  for (int v = 0; v < vectors; ++v) {
    own[v] = Scores::load(block + v * lanes);
    for (int lane = 0; lane < lanes; ++lane) number[v][lane] = static_cast<int32_t>(v * lanes + lane);
  }
  for (int64_t j = 0; j < first; ++j) {
    const auto other = Scores::all(scores[j]);
    for (int v = 0; v < vectors; ++v) found[v] -= other >= own[v];
  }
  const int64_t end = smaller(n, first + rows);
  for (int64_t j = first; j < end; ++j) {
    const auto other = Scores::all(scores[j]);
    const auto at = static_cast<int32_t>(j - first) - Counts{};
    for (int v = 0; v < vectors; ++v) found[v] -= (other > own[v]) | ((other == own[v]) & (at < number[v]));
  }
  for (int64_t j = end; j < n; ++j) {
    const auto other = Scores::all(scores[j]);
    for (int v = 0; v < vectors; ++v) found[v] -= other > own[v];
  }
  std::memcpy(places + first, found, (end - first) * sizeof *places);
}

void count(const float* scores, int64_t n, int32_t* places) {
  constexpr int64_t lanes = Scores::count;
  int64_t first = 0;
  for (; first + 4 * lanes <= n; first += 4 * lanes) count_block<4>(scores, n, first, scores + first, places);
  float rest[4 * lanes] = {};
  if (first < n) std::memcpy(rest, scores + first, (n - first) * sizeof *rest);
  if (first + 2 * lanes < n) {
    count_block<4>(scores, n, first, rest, places);
  } else if (first < n) {
    count_block<2>(scores, n, first, rest, places);
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
RankLoops loops_of<RankLoops, Simd::MR_SIMD>() {
  return {.most = 32 * MR_SIMD::Scores::count, .count = &MR_SIMD::count};
}

}  // namespace mr::cpu
