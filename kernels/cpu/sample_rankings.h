// Values of a metric for random rankings of n rows of which p are relevant. Rank by rank a row is relevant with
// probability (relevant rows left) / (rows left): integers compared with random bits, so that every set of ranks is
// equally likely. The random numbers depend on (key, sample) only.
#pragma once

#include <cstdint>

#include "kernels/core/rng.h"

namespace mr::cpu {

/// What a relevant row at rank r adds, given that it is the c-th: linear d[r], average_precision c d[r], or only the
/// first one's d[r]. graded: every row adds d[r] times its gain.
enum class Increment : int8_t { linear, average_precision, first, graded };

/// So many different gains besides 0 are drawn level by level.
constexpr int64_t most_levels = 8;

struct RankingSampler {
  int64_t n = 0, p = 0;
  Increment increment = Increment::linear;
  const double* d = nullptr;  // d[0] for rank 1
  RandomKey key;
  /// For graded only, from the highest gain down: at_least[c] rows gain as much as level c, and step[c] is what level c
  /// gains more than the next one (the last: more than 0). So the sum over c of step[c] where a row is of level c or
  /// above is its gain, and every level is drawn as relevant rows are, from the same random number.
  int64_t levels = 0;
  int64_t at_least[most_levels] = {};
  double step[most_levels] = {};
};

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
