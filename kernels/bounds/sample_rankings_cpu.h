// Values of a metric for random rankings (kernels/bounds/sample_rankings.h), in vectors.
#pragma once

#include <cstdint>

#include "kernels/bounds/sample_rankings.h"

namespace mr::cpu {

/// Samples are drawn this many at a time; `first` and `count` below are multiples of it.
constexpr int64_t sample_lanes = 16;

/// values[s] for samples first .. first + count - 1.
void sample_rankings(const RankingSampler& sampler, int64_t first, int64_t count, double* values);

/// The same on one instruction set, whether or not the processor has it.
namespace scalar {
void sample(const RankingSampler& s, int64_t first, int64_t count, double* values);
}
namespace avx2 {
void sample(const RankingSampler& s, int64_t first, int64_t count, double* values);
}
namespace avx512 {
void sample(const RankingSampler& s, int64_t first, int64_t count, double* values);
}

}  // namespace mr::cpu
