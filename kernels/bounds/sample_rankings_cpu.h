// Values of a metric for random rankings (kernels/bounds/sample_rankings.h), in vectors.
#pragma once

#include <cstdint>

#include "kernels/bounds/sample_rankings.h"
#include "kernels/core/simd.h"

namespace mr::cpu {

/// Samples are drawn this many at a time; `first` and `count` below are multiples of it.
constexpr int64_t sample_lanes = 16;

/// Compiled once per instruction set.
struct SampleLoops {
  /// values[s] for samples first .. first + count - 1.
  void (*sample)(const RankingSampler& sampler, int64_t first, int64_t count, double* values);
};

inline void sample_rankings(const RankingSampler& sampler, int64_t first, int64_t count, double* values) {
  chosen_loops<SampleLoops>().sample(sampler, first, count, values);
}

}  // namespace mr::cpu
