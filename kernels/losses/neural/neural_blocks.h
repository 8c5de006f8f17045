// The loops of neural_sums.h over a block of rows or columns of the matrix. Each row or column is a lane and sums one
// entry after another. The code is in namespace MR_SIMD and is included by neural_sums_loops.h only.
#pragma once

#include "kernels/core/functions.h"
#include "kernels/core/simd/lanes.h"
#include "kernels/losses/neural/neural_sums.h"

namespace mr::cpu::MR_SIMD {
namespace {

constexpr int64_t block = NeuralSumLoops::block;

inline void distances(const double* f, int64_t first, int64_t n, double* sums) {
  using L = Lanes<double>;
  for (int64_t v = first; v < first + block; v += L::count) {
    const auto mine = L::load(f + v);
    typename L::Vector total = {};
    for (int64_t l = 0; l < n; ++l) {
      const auto by = mine - f[l];
      total += by < 0 ? -by : by;
    }
    L::store(sums + (v - first), total);
  }
}

inline void row_sums(const double* steps, const double* f, const double* away, int64_t first, int64_t n, double* tops,
                     double* totals) {
  double top[block], total[block] = {};
  fill(top, block, -__builtin_huge_val());
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t k = 0; k < block; ++k) {
      const double logit = steps[first + k] * f[j] - away[j];
      top[k] = logit > top[k] ? logit : top[k];
    }
  }
  for (int64_t j = 0; j < n; ++j)
    for (int64_t k = 0; k < block; ++k) total[k] += portable::exp(steps[first + k] * f[j] - away[j] - top[k]);
  std::memcpy(tops, top, sizeof top);
  std::memcpy(totals, total, sizeof total);
}

inline void signs(const double* f, const double* by, int64_t first, int64_t n, double* sums) {
  using L = Lanes<double>;
  for (int64_t v = first; v < first + block; v += L::count) {
    const auto mine = L::load(f + v), own = L::load(by + v);
    typename L::Vector total = {};
    for (int64_t l = 0; l < n; ++l) {
      const auto sign = mine > f[l] ? L::all(1) : mine < f[l] ? L::all(-1) : typename L::Vector{};
      total += sign * (own + by[l]);
    }
    L::store(sums + (v - first), total);
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD
