// Draws values of a metric for random rankings of n rows of which p are relevant. The row at each rank is relevant with
// probability (relevant rows left) / (rows left), decided by comparing integers with random bits, so every set of ranks
// is equally likely. With sampling weights, rows are drawn without replacement (Plackett 1975, Luce 1959), and the
// remaining weights are compared instead. Random numbers depend on (key, sample) only, so every device draws the same
// values.
#pragma once

#include <cstdint>

#include "kernels/core/rng.h"
#include "kernels/core/view.h"

namespace mr {

/// How a metric counts a relevant row, the c-th one, at rank r. linear: d[r]. average_precision: c d[r]. first: d[r]
/// for the first relevant row only. graded: every row adds d[r] times its gain. pairs: every row adds the number of
/// rows of lower grade above it; kernels do not draw this kind.
enum class Increment : int8_t { linear, average_precision, first, graded, pairs };

/// Rankings of a list with at most this many distinct gains above 0 are drawn level by level, where a level is all rows
/// with one gain. With more gains, kernels do not draw them.
constexpr int64_t most_levels = 8;

struct RankingSampler {
  int64_t n = 0, p = 0;
  Increment increment = Increment::linear;
  const double* d = nullptr;  // discounts of ranks; d[0] belongs to rank 1
  RandomKey key;
  /// The levels (distinct gains above 0) of a list, from the highest gain down; used by `Increment::graded` only.
  /// at_least[c] is the number of rows that gain at least as much as level c. step[c] is the gain of level c minus
  /// that of level c + 1; for the last level, its gain. So a row's gain is the sum of step[c] over the levels c that
  /// the row reaches. Every level is drawn as relevant rows are, from the same random number.
  int64_t levels = 0;
  int64_t at_least[most_levels] = {};
  double step[most_levels] = {};
  /// True if rows have sampling weights. A row of level l (a distinct gain above 0) has weight[l]; with binary grades,
  /// weight[0] is the weight of relevant rows. A row without gain has weight 1.
  bool weighted = false;
  double weight[most_levels] = {};
};

/// Writes the metric's value in each random ranking s (a sample) to values[s]. The GPU runs this reference form; the
/// CPU runs sample_rankings_loops.h.
template <class Real>
struct SampleRankings {
  RankingSampler sampler;
  Span<double> values;
  MR_HD void operator()(int64_t sample) const {
    if (sampler.increment == Increment::graded) {
      values[sample] = sampler.weighted ? graded_weighted(sample) : graded(sample);
    } else {
      values[sample] = binary(sample);
    }
  }

 private:
  struct Walk {
    RandomKey key;
    uint64_t sample;
    Random128 bits{};
    /// Returns 32 random bits for rank r. Call it for ranks in ascending order.
    MR_HD uint32_t word(int64_t r) {
      if (r % 4 == 0) bits = philox(key, sample, static_cast<uint64_t>(r / 4));
      return bits.word[r % 4];
    }
    /// Returns a random integer for rank r, uniform in 0 .. left - 1.
    MR_HD int64_t below(int64_t r, int64_t left) {
      return static_cast<int64_t>(word(r) * static_cast<uint64_t>(left) >> 32);
    }
    /// Returns a random number for rank r, uniform in (0, 1).
    MR_HD double share(int64_t r) { return (static_cast<double>(word(r)) + 0.5) * 0x1p-32; }
  };

  /// Draws whether the row at rank r is relevant, if `wanted` of the remaining rows are relevant.
  MR_HD bool hits(Walk& walk, int64_t r, int64_t wanted) const {
    if (!sampler.weighted) return walk.below(r, sampler.n - r) < wanted;
    const double weight = static_cast<double>(wanted) * sampler.weight[0];
    return walk.share(r) * (weight + static_cast<double>(sampler.n - r - wanted)) < weight;
  }

  MR_HD double binary(int64_t sample) const {
    Walk walk{sampler.key, static_cast<uint64_t>(sample)};
    int64_t wanted = sampler.p, found = 0;
    double total = 0;
    for (int64_t r = 0; r < sampler.n; ++r) {
      if (!hits(walk, r, wanted)) continue;
      --wanted;
      ++found;
      if (sampler.increment == Increment::average_precision) {
        total += static_cast<double>(found) * sampler.d[r];
      } else if (sampler.increment == Increment::linear || found == 1) {
        total += sampler.d[r];
      }
    }
    return total;
  }

  MR_HD double graded(int64_t sample) const {
    Walk walk{sampler.key, static_cast<uint64_t>(sample)};
    int64_t wanted[most_levels];
    for (int64_t c = 0; c < sampler.levels; ++c) wanted[c] = sampler.at_least[c];
    double total = 0;
    for (int64_t r = 0; r < sampler.n; ++r) {
      const int64_t number = walk.below(r, sampler.n - r);
      double gain = 0;
      for (int64_t c = 0; c < sampler.levels; ++c) {
        if (number >= wanted[c]) continue;
        --wanted[c];
        gain += sampler.step[c];
      }
      total += gain * sampler.d[r];
    }
    return total;
  }

  /// Returns the metric of one random ranking by sampling weights, for rows of several levels of gain. The row at each
  /// rank gets the first level, counted from the highest, at which the cumulative weight of the remaining rows exceeds
  /// a random number.
  MR_HD double graded_weighted(int64_t sample) const {
    Walk walk{sampler.key, static_cast<uint64_t>(sample)};
    double left[most_levels], others = static_cast<double>(sampler.n), total = 0;
    for (int64_t c = 0; c < sampler.levels; ++c) {
      left[c] = static_cast<double>(sampler.at_least[c] - (c > 0 ? sampler.at_least[c - 1] : 0));
      others -= left[c];
    }
    for (int64_t r = 0; r < sampler.n; ++r) {
      double weight = 0;
      for (int64_t c = 0; c < sampler.levels; ++c) weight += left[c] * sampler.weight[c];
      const double number = walk.share(r) * (weight + others);
      double reached = 0, gain = 0;
      bool drawn = false;
      for (int64_t c = 0; c < sampler.levels; ++c) {
        reached += left[c] * sampler.weight[c];
        const bool hit = number < reached;
        if (hit) gain += sampler.step[c];
        if (hit && !drawn) left[c] -= 1;
        drawn = drawn || hit;
      }
      if (!drawn) others -= 1;
      total += gain * sampler.d[r];
    }
    return total;
  }
};

}  // namespace mr
