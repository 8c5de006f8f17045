// Input of benchmarks of smooth ranks: one list of scores whose every second row is relevant, and the arrays that
// smooth ranks and their derivative read and write.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <vector>

#include "kernels/core/rng.h"
#include "kernels/smooth/smooth_rank.h"
#include "kernels/tensor/normal.h"

namespace mr::bench {

inline constexpr const char* score_shapes[] = {"equal", "normal", "wide", "cauchy", "spread", "clusters"};

inline double score(int64_t shape, uint64_t i) {
  const RandomKey key = random_key(1, "bench");
  const double u = uniform(key, i) - 0.5;
  switch (shape) {
    case 0:
      return 0.02 * u;
    case 1:
      return normal(key, i);
    case 2:
      return 10 * normal(key, i);
    case 3:
      return std::clamp(std::tan(std::numbers::pi * u), -1e4, 1e4);
    case 4:
      return 1e4 * u;
    default:
      return 20 * static_cast<double>(i % 8) + normal(key, i);
  }
}

template <class Real>
struct OneList {
  std::vector<Real> scores, g, h, ranks, among, out;
  std::vector<int64_t> offsets, target_offsets;
  std::vector<int32_t> targets;

  OneList(int64_t n, int64_t shape)
      : ranks(static_cast<size_t>(n)),
        among(static_cast<size_t>(n)),
        out(static_cast<size_t>(n)),
        offsets{0, n},
        target_offsets{0, (n + 1) / 2} {
    for (int64_t i = 0; i < n; ++i) {
      scores.push_back(static_cast<Real>(score(shape, static_cast<uint64_t>(i))));
      if (i % 2 == 0) targets.push_back(static_cast<int32_t>(i));
    }
    g.assign(targets.size(), Real(0.5));
    h.assign(targets.size(), Real(0.25));
  }

  template <class T>
  static Span<T> span(std::vector<std::remove_const_t<T>>& v) {
    return {v.data(), static_cast<int64_t>(v.size())};
  }
  Ragged lists() const { return {offsets.data(), 1}; }
  Chosen relevant() const { return {{target_offsets.data(), 1}, targets.data()}; }
  SmoothRank<Real> rank(bool two) {
    return {span<const Real>(scores),
            lists(),
            relevant(),
            {lists(), nullptr},
            Real(1),
            span<Real>(ranks),
            two ? span<Real>(among) : Span<Real>{}};
  }
  SmoothRankVjp<Real> vjp(bool four) {
    return {span<const Real>(scores),
            lists(),
            relevant(),
            Real(1),
            span<const Real>(g),
            four ? span<const Real>(h) : Span<const Real>{},
            span<Real>(out)};
  }
  int64_t pairs() const { return offsets[1] * target_offsets[1]; }
};

}  // namespace mr::bench
