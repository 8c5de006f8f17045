// Computes several metrics for the same random rankings. The relevant rows are drawn once, in blocks of ranks, and each
// metric sums them in the order of sample_rankings_loops.h. Included by sample_several_*.cpp only.
#include "kernels/bounds/sample_rankings_loops.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// number of ranks per block; a multiple of the four ranks for which random bits are drawn at once
constexpr int64_t block_ranks = 64;

/// Marks the lanes (random rankings) that have a relevant row at each rank of a block.
struct Hits {
  Whole at[block_ranks][vectors];
};

/// Running sums of one metric over the ranks of random rankings, one per lane.
struct Sums {
  Reals found[vectors] = {}, total[vectors] = {};
};

template <Increment Kind>
void add_block(const Hits& hits, const double* d, int64_t ranks, Sums& sums) {
  for (int64_t r = 0; r < ranks; ++r) {
    const Reals of_rank = d[r] - Reals{};
    for (int64_t v = 0; v < vectors; ++v) add_rank<Kind>(hits.at[r][v], of_rank, sums.found[v], sums.total[v]);
  }
}

void add_block(const RankingSampler& s, const Hits& hits, int64_t first_rank, int64_t ranks, Sums& sums) {
  switch (s.increment) {
    case Increment::average_precision:
      return add_block<Increment::average_precision>(hits, s.d + first_rank, ranks, sums);
    case Increment::first:
      return add_block<Increment::first>(hits, s.d + first_rank, ranks, sums);
    default:
      return add_block<Increment::linear>(hits, s.d + first_rank, ranks, sums);
  }
}

/// Writes the metrics of the random rankings first .. first + sample_lanes - 1 into values[m][at ..].
void several_lanes_at(const RankingSampler* samplers, int64_t metrics, uint64_t first, double* const* values,
                      int64_t at) {
  const RankingSampler& s = samplers[0];
  Walk walk(first);
  Wanted<false> wanted(s);
  Hits hits;
  Sums sums[most_several] = {};
  for (int64_t from = 0; from < s.n; from += block_ranks) {
    const int64_t ranks = s.n - from < block_ranks ? s.n - from : block_ranks;
    for (int64_t r = 0; r < ranks; ++r) {
      if (r % 4 == 0) walk.refill(s.key, from + r);
      for (int64_t v = 0; v < vectors; ++v) hits.at[r][v] = wanted.take(s, walk, v, from + r);
    }
    for (int64_t m = 0; m < metrics; ++m) add_block(samplers[m], hits, from, ranks, sums[m]);
  }
  for (int64_t m = 0; m < metrics; ++m) std::memcpy(values[m] + at, sums[m].total, sizeof sums[m].total);
}

void sample_several(const RankingSampler* samplers, int64_t metrics, int64_t first, int64_t count,
                    double* const* values) {
  for (int64_t i = 0; i < count; i += sample_lanes)
    several_lanes_at(samplers, metrics, static_cast<uint64_t>(first + i), values, first + i);
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
SampleSeveralLoops loops_of<SampleSeveralLoops, Simd::MR_SIMD>() {
  return {.sample = &MR_SIMD::sample_several};
}

}  // namespace mr::cpu
