// Inner loops over pairs without exponentials: with e_j = exp(x_j - c), sigma(x_j - x_i) = e_j / (e_i + e_j) and
// k(x_j - x_i) = e_i e_j / (e_i + e_j)^2. Valid while the scores of a list span at most `ratio_span`.
// Compiled once per instruction set (pairs_*.cpp) and chosen when the program starts.
#pragma once

#include <cstdint>

namespace mr::cpu {

/// Widest span of a list's scaled scores for which e, e_i e_j and (e_i + e_j)^2 stay normal numbers.
template <class Real>
constexpr double ratio_span = sizeof(Real) == 4 ? 80 : 700;

/// Lanes that every array of sources is filled up to, with e = 0, which adds nothing.
constexpr int64_t pair_padding = 16;

template <class Real>
struct PairLoops {
  /// sums[i] = sum_j e_j / (t_i + e_j) over n sources (a multiple of pair_padding) for m targets.
  void (*rank_sums)(const Real* e, int64_t n, const Real* t, int64_t m, double* sums);
  /// totals[j] += sum_i g_i k_ij and sums[i] = sum_j k_ij.
  void (*kernel_sums)(const Real* e, int64_t n, const Real* t, const Real* g, int64_t m, double* totals, double* sums);
};

/// The loops for this processor, or for what MOONRANK_SIMD asks ("scalar", "avx2", "avx512"); throws where that is not
/// there.
template <class Real>
const PairLoops<Real>& pair_loops();

/// The instruction set in use: "scalar", "avx2" or "avx512".
const char* simd_name();

namespace scalar {
template <class Real>
PairLoops<Real> loops();
}
namespace avx2 {
template <class Real>
PairLoops<Real> loops();
}
namespace avx512 {
template <class Real>
PairLoops<Real> loops();
}

}  // namespace mr::cpu
