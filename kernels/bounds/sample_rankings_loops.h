// The sampling loop over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by sample_rankings_*.cpp only.
// Every lane is one sample.
#include <cstring>

#include "kernels/bounds/sample_rankings_cpu.h"
#include "kernels/core/simd/philox_lanes.h"

namespace mr::cpu::MR_SIMD {
namespace {

typedef int64_t Whole __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
typedef double Reals __attribute__((vector_size(MR_VECTOR_BYTES)));   // NOLINT
constexpr int64_t lanes = MR_VECTOR_BYTES / 8;
constexpr int64_t vectors = sample_lanes / lanes;

inline Reals masked(Whole mask, Reals x) { return reinterpret_cast<Reals>(mask & reinterpret_cast<Whole>(x)); }

/// Draws random numbers, rank by rank, for the samples (random rankings) first .. first + sample_lanes - 1.
struct Walk {
  Bits sample[vectors], words[vectors][4];

  explicit Walk(uint64_t first) {
    for (int64_t v = 0; v < vectors; ++v) {
      for (int64_t l = 0; l < lanes; ++l) sample[v][l] = first + static_cast<uint64_t>(v * lanes + l);
    }
  }

  /// Draws the random bits for ranks r to r + 3.
  void refill(RandomKey key, int64_t r) {
    for (int64_t v = 0; v < vectors; ++v) draw(key, sample[v], static_cast<uint64_t>(r / 4), words[v]);
  }

  /// Returns random integers for rank r, uniform in 0 .. left - 1.
  Whole below(int64_t v, int64_t r, Bits left) const {
    return reinterpret_cast<Whole>(multiply(words[v][r % 4], left) >> 32);
  }

  /// Returns random numbers for rank r, uniform in (0, 1). The bits become the fraction of a number from 1 to 2; then
  /// half a bit is added and 1 subtracted.
  Reals share(int64_t v, int64_t r) const {
    const Bits one_and = (words[v][r % 4] << 32 >> 12) | 0x3FF0000000000000ULL;
    return reinterpret_cast<Reals>(one_and) - (1 - 0x1p-33);
  }
};

/// Counts, per lane, the relevant rows that have no rank yet.
template <bool Weighted>
struct Wanted;

template <>
struct Wanted<false> {
  Whole rows[vectors];

  explicit Wanted(const RankingSampler& s) {
    for (Whole& of : rows) of = s.p - Whole{};
  }
  /// Returns a mask of the lanes in which the row at rank r is relevant.
  Whole take(const RankingSampler& s, const Walk& walk, int64_t v, int64_t r) {
    const Whole hit = walk.below(v, r, static_cast<uint64_t>(s.n - r) - Bits{}) < rows[v];
    rows[v] += hit;
    return hit;
  }
};

template <>
struct Wanted<true> {
  Reals rows[vectors];

  explicit Wanted(const RankingSampler& s) {
    for (Reals& of : rows) of = static_cast<double>(s.p) - Reals{};
  }
  Whole take(const RankingSampler& s, const Walk& walk, int64_t v, int64_t r) {
    const Reals weight = rows[v] * s.weight[0];
    const Whole hit = walk.share(v, r) * (weight + (static_cast<double>(s.n - r) - rows[v])) < weight;
    rows[v] -= masked(hit, 1.0 - Reals{});
    return hit;
  }
};

/// Adds to the metric `total` what a relevant row at a rank with discount d contributes, in the lanes (random
/// rankings) whose row at this rank is relevant. `found` counts the relevant rows so far in each lane.
template <Increment Kind>
void add_rank(Whole hit, Reals d, Reals& found, Reals& total) {
  if constexpr (Kind == Increment::linear) {
    total += masked(hit, d);
  } else {
    found += masked(hit, 1.0 - Reals{});
    if constexpr (Kind == Increment::average_precision) total += masked(hit, found * d);
    if constexpr (Kind == Increment::first) total += masked(hit & (found == 1.0), d);
  }
}

template <Increment Kind, bool Weighted>
void sample_lanes_at(const RankingSampler& s, uint64_t first, double* values) {
  Walk walk(first);
  Wanted<Weighted> wanted(s);
  Reals found[vectors] = {}, total[vectors] = {};
  for (int64_t r = 0; r < s.n; ++r) {
    if (r % 4 == 0) walk.refill(s.key, r);
    const Reals d = s.d[r] - Reals{};
    for (int64_t v = 0; v < vectors; ++v) add_rank<Kind>(wanted.take(s, walk, v, r), d, found[v], total[v]);
  }
  for (int64_t v = 0; v < vectors; ++v) std::memcpy(values + v * lanes, &total[v], sizeof total[v]);
}

void graded_lanes_at(const RankingSampler& s, uint64_t first, double* values) {
  Walk walk(first);
  Whole wanted[most_levels][vectors];
  Reals total[vectors] = {};
  for (int64_t c = 0; c < s.levels; ++c) {
    for (int64_t v = 0; v < vectors; ++v) wanted[c][v] = s.at_least[c] - Whole{};
  }
  for (int64_t r = 0; r < s.n; ++r) {
    if (r % 4 == 0) walk.refill(s.key, r);
    const Bits left = static_cast<uint64_t>(s.n - r) - Bits{};
    for (int64_t v = 0; v < vectors; ++v) {
      const Whole number = walk.below(v, r, left);
      Reals gain = {};
      for (int64_t c = 0; c < s.levels; ++c) {
        const Whole hit = number < wanted[c][v];
        wanted[c][v] += hit;
        gain += masked(hit, s.step[c] - Reals{});
      }
      total[v] += gain * s.d[r];
    }
  }
  for (int64_t v = 0; v < vectors; ++v) std::memcpy(values + v * lanes, &total[v], sizeof total[v]);
}

/// Computes the metric of random rankings by sampling weights, for rows of several levels of gain. `others` counts the
/// rows without gain that remain.
void graded_weighted_lanes_at(const RankingSampler& s, uint64_t first, double* values) {
  Walk walk(first);
  Reals left[most_levels][vectors], others[vectors], total[vectors] = {};
  for (int64_t v = 0; v < vectors; ++v) {
    others[v] = static_cast<double>(s.n) - Reals{};
    for (int64_t c = 0; c < s.levels; ++c) {
      left[c][v] = static_cast<double>(s.at_least[c] - (c > 0 ? s.at_least[c - 1] : 0)) - Reals{};
      others[v] -= left[c][v];
    }
  }
  for (int64_t r = 0; r < s.n; ++r) {
    if (r % 4 == 0) walk.refill(s.key, r);
    for (int64_t v = 0; v < vectors; ++v) {
      Reals weight = {}, reached = {}, gain = {};
      for (int64_t c = 0; c < s.levels; ++c) weight += left[c][v] * s.weight[c];
      const Reals number = walk.share(v, r) * (weight + others[v]);
      Whole drawn = {};
      for (int64_t c = 0; c < s.levels; ++c) {
        reached += left[c][v] * s.weight[c];
        const Whole hit = number < reached;
        gain += masked(hit, s.step[c] - Reals{});
        left[c][v] -= masked(hit & ~drawn, 1.0 - Reals{});
        drawn |= hit;
      }
      others[v] -= masked(~drawn, 1.0 - Reals{});
      total[v] += gain * s.d[r];
    }
  }
  for (int64_t v = 0; v < vectors; ++v) std::memcpy(values + v * lanes, &total[v], sizeof total[v]);
}

/// Selects the sampling loop for `kind`, which says how a relevant row counts in the metric.
template <bool Weighted>
auto loop_of(Increment kind) {
  switch (kind) {
    case Increment::average_precision:
      return &sample_lanes_at<Increment::average_precision, Weighted>;
    case Increment::first:
      return &sample_lanes_at<Increment::first, Weighted>;
    case Increment::graded:
      return Weighted ? &graded_weighted_lanes_at : &graded_lanes_at;
    default:
      return &sample_lanes_at<Increment::linear, Weighted>;
  }
}

void sample(const RankingSampler& s, int64_t first, int64_t count, double* values) {
  const auto run = s.weighted ? loop_of<true>(s.increment) : loop_of<false>(s.increment);
  for (int64_t i = 0; i < count; i += sample_lanes) run(s, static_cast<uint64_t>(first + i), values + i);
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
SampleLoops loops_of<SampleLoops, Simd::MR_SIMD>() {
  return {.sample = &MR_SIMD::sample};
}

}  // namespace mr::cpu
