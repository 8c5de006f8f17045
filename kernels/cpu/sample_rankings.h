// Values of a metric for random rankings of n rows of which p are relevant. Rank by rank a row is relevant with
// probability (relevant rows left) / (rows left): integers compared with random bits, so that every set of ranks is
// equally likely. The random numbers depend on (key, sample) only.
#pragma once

#include <cstdint>

#include "kernels/core/rng.h"

namespace mr::cpu {

/// What a relevant row at rank r adds, given that it is the c-th: linear d[r], average_precision c d[r], or only the
/// first one's d[r].
enum class Increment : int8_t { linear, average_precision, first };

struct RankingSampler {
  int64_t n = 0, p = 0;
  Increment increment = Increment::linear;
  const double* d = nullptr;  // d[0] for rank 1
  RandomKey key;
};

/// Samples are drawn this many at a time; `first` and `count` below are multiples of it.
constexpr int64_t sample_lanes = 16;

/// values[s] for samples first .. first + count - 1.
void sample_rankings(const RankingSampler& sampler, int64_t first, int64_t count, double* values);

}  // namespace mr::cpu
