// The exact characteristic function of a metric over random rankings, in O(ranks x relevant rows) per frequency, and
// the Fourier series computed from it. The row at each rank is relevant with probability (relevant rows left) / (rows
// left). State c holds the sum, over all ways to have c relevant rows so far, of probability times exp(i t (metric
// value so far)). With sampling weights, rows are drawn without replacement (Plackett 1975, Luce 1959), and both counts
// in the probability are multiplied by the weights of their rows.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

/// Number of frequencies that one call processes together.
constexpr int64_t frequency_lanes = 16;

/// A row of level l at rank r adds one angle per frequency. Level 0 adds nothing.
struct RankingTransform {
  int64_t n = 0;
  int64_t levels = 1;
  // [levels]: number of rows in level 1, 2, ...; the rows of a level have equal gains
  const int64_t* rows_of = nullptr;
  // [levels]: sampling weight of a row of each level; rows of level 0 have weight 1; null: all rows have weight 1
  const double* weights = nullptr;
  // true for average precision: the c-th relevant row from the top adds c times the angle of its rank; for one level
  // only
  bool cumulative = false;
  // [n]: smallest likely number of relevant rows in the first r + 1 ranks; used if there is one level
  const int32_t* low = nullptr;
  // [n]: largest likely number of relevant rows in the first r + 1 ranks; used if there is one level
  const int32_t* high = nullptr;
  /// exp(i angle) of lane j at rank r and level l is start[r][l] * powers[r][l][j]; complex numbers as real parts, then
  /// imaginary ones: start [n][levels][2], powers [n][levels][2][frequency_lanes].
  const double* start = nullptr;
  const double* powers = nullptr;
};

/// Number of doubles that `characteristic` needs as scratch memory.
int64_t characteristic_scratch(const RankingTransform& transform);
/// Pointers to loops that are compiled once per instruction set.
struct FrequencyLoops {
  /// Writes re[j], im[j] for one block of frequencies.
  void (*characteristic)(const RankingTransform& transform, double* scratch, double* re, double* im);
  /// Writes sum over k = 1 .. terms of c_k w^k and of b_k w^k at frequency_lanes points w: only the real part of the
  /// first and the imaginary part of the second. coefficients [terms][4]: c_k and b_k.
  void (*fourier_sums)(const double* coefficients, int64_t terms, const double* w_re, const double* w_im, double* first,
                       double* second);
};

inline void characteristic(const RankingTransform& transform, double* scratch, double* re, double* im) {
  chosen_loops<FrequencyLoops>().characteristic(transform, scratch, re, im);
}
inline void fourier_sums(const double* coefficients, int64_t terms, const double* w_re, const double* w_im,
                         double* first, double* second) {
  chosen_loops<FrequencyLoops>().fourier_sums(coefficients, terms, w_re, w_im, first, second);
}

}  // namespace mr::cpu
