// Vectorized form of kernels/bounds/sample_rankings.h: values of metrics for random rankings.
#pragma once

#include <cstdint>

#include "kernels/bounds/sample_rankings.h"
#include "kernels/core/simd/simd.h"

namespace mr::cpu {

/// number of random rankings (samples) that are drawn together; `first` and `count` below are multiples of it
constexpr int64_t sample_lanes = 16;

/// Pointers to loops that are compiled once per instruction set.
struct SampleLoops {
  /// Writes the metric's value in random ranking s to values[s], for s = first .. first + count - 1.
  void (*sample)(const RankingSampler& sampler, int64_t first, int64_t count, double* values);
};

inline void sample_rankings(const RankingSampler& sampler, int64_t first, int64_t count, double* values) {
  chosen_loops<SampleLoops>().sample(sampler, first, count, values);
}

/// largest number of metrics that one call of `sample_several` computes
constexpr int64_t most_several = 8;

/// Pointers to loops that are compiled once per instruction set.
struct SampleSeveralLoops {
  /// Writes the value of metric m in random ranking s to values[m][s], for s = first .. first + count - 1. The bits
  /// equal those of `sample_rankings` with samplers[m]. The samplers may differ in their discounts and in how a
  /// relevant row counts (`increment`), in nothing else; none is weighted or graded.
  void (*sample)(const RankingSampler* samplers, int64_t metrics, int64_t first, int64_t count, double* const* values);
};

inline void sample_several(const RankingSampler* samplers, int64_t metrics, int64_t first, int64_t count,
                           double* const* values) {
  chosen_loops<SampleSeveralLoops>().sample(samplers, metrics, first, count, values);
}

}  // namespace mr::cpu
