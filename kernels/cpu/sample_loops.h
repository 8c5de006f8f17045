// The sampling loop over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by sample_*.cpp only. Every
// lane is one sample and holds its 32-bit words in 64 bits, so that a multiplication keeps its high half.
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels/cpu/sample_rankings.h"

namespace mr::cpu::MR_SIMD {
namespace {

typedef uint64_t Bits __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
typedef int64_t Whole __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT
typedef double Reals __attribute__((vector_size(MR_VECTOR_BYTES)));   // NOLINT
constexpr int64_t lanes = MR_VECTOR_BYTES / 8;
constexpr int64_t vectors = sample_lanes / lanes;
constexpr uint64_t low_half = 0xFFFFFFFFULL;

/// Product of the low halves, in full.
inline Bits multiply(Bits a, Bits b) {
#if !defined(__x86_64__)
  return (a & low_half) * (b & low_half);
#elif MR_VECTOR_BYTES == 64
  return reinterpret_cast<Bits>(_mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif MR_VECTOR_BYTES == 32
  return reinterpret_cast<Bits>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return reinterpret_cast<Bits>(_mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#endif
}

/// philox(key, block = sample, lane = step) of core/rng.h for one vector of samples. Only the low halves hold it: what
/// products leave in the high ones is in nobody's way, since `multiply` does not look there.
inline void draw(RandomKey key, Bits sample, uint64_t step, Bits (&out)[4]) {
  const Bits m0 = 0xD2511F53ULL - Bits{}, m1 = 0xCD9E8D57ULL - Bits{};
  Bits c0 = sample, c1 = sample >> 32, c2 = step - Bits{}, c3 = (step >> 32) - Bits{};
  auto k0 = static_cast<uint32_t>(key.value), k1 = static_cast<uint32_t>(key.value >> 32);
  for (int round = 0; round < 10; ++round) {
    const Bits p0 = multiply(m0, c0), p1 = multiply(m1, c2);
    c0 = (p1 >> 32) ^ (c1 ^ static_cast<uint64_t>(k0));
    c2 = (p0 >> 32) ^ (c3 ^ static_cast<uint64_t>(k1));
    c1 = p1;
    c3 = p0;
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

inline Reals masked(Whole mask, Reals x) { return reinterpret_cast<Reals>(mask & reinterpret_cast<Whole>(x)); }

/// The samples first .. first + sample_lanes - 1 on their way down the ranks.
struct Walk {
  Bits sample[vectors], words[vectors][4];

  explicit Walk(uint64_t first) {
    for (int64_t v = 0; v < vectors; ++v) {
      for (int64_t l = 0; l < lanes; ++l) sample[v][l] = first + static_cast<uint64_t>(v * lanes + l);
    }
  }

  /// Random bits for the four ranks from r on.
  void refill(RandomKey key, int64_t r) {
    for (int64_t v = 0; v < vectors; ++v) draw(key, sample[v], static_cast<uint64_t>(r / 4), words[v]);
  }

  /// Uniform in 0 .. left - 1, for rank r.
  Whole below(int64_t v, int64_t r, Bits left) const {
    return reinterpret_cast<Whole>(multiply(words[v][r % 4], left) >> 32);
  }
};

template <Increment Kind>
void sample_lanes_at(const RankingSampler& s, uint64_t first, double* values) {
  Walk walk(first);
  Whole wanted[vectors];
  Reals found[vectors] = {}, total[vectors] = {};
  for (int64_t v = 0; v < vectors; ++v) wanted[v] = s.p - Whole{};
  for (int64_t r = 0; r < s.n; ++r) {
    if (r % 4 == 0) walk.refill(s.key, r);
    const Bits left = static_cast<uint64_t>(s.n - r) - Bits{};
    const Reals d = s.d[r] - Reals{};
    for (int64_t v = 0; v < vectors; ++v) {
      const Whole hit = walk.below(v, r, left) < wanted[v];
      wanted[v] += hit;
      if constexpr (Kind == Increment::linear) {
        total[v] += masked(hit, d);
      } else {
        found[v] += masked(hit, 1.0 - Reals{});
        if constexpr (Kind == Increment::average_precision) total[v] += masked(hit, found[v] * d);
        if constexpr (Kind == Increment::first) total[v] += masked(hit & (found[v] == 1.0), d);
      }
    }
  }
  for (int64_t v = 0; v < vectors; ++v) std::memcpy(values + v * lanes, &total[v], sizeof total[v]);
}

template <>
void sample_lanes_at<Increment::graded>(const RankingSampler& s, uint64_t first, double* values) {
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
      const Whole place = walk.below(v, r, left);
      Reals gain = {};
      for (int64_t c = 0; c < s.levels; ++c) {
        const Whole hit = place < wanted[c][v];
        wanted[c][v] += hit;
        gain += masked(hit, s.step[c] - Reals{});
      }
      total[v] += gain * s.d[r];
    }
  }
  for (int64_t v = 0; v < vectors; ++v) std::memcpy(values + v * lanes, &total[v], sizeof total[v]);
}

/// The loop for a kind of increment.
auto loop_of(Increment kind) {
  switch (kind) {
    case Increment::average_precision:
      return &sample_lanes_at<Increment::average_precision>;
    case Increment::first:
      return &sample_lanes_at<Increment::first>;
    case Increment::graded:
      return &sample_lanes_at<Increment::graded>;
    default:
      return &sample_lanes_at<Increment::linear>;
  }
}

}  // namespace

void sample(const RankingSampler& s, int64_t first, int64_t count, double* values) {
  const auto run = loop_of(s.increment);
  for (int64_t i = 0; i < count; i += sample_lanes) run(s, static_cast<uint64_t>(first + i), values + i);
}

}  // namespace mr::cpu::MR_SIMD
