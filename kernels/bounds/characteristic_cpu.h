// The exact characteristic function of a metric over random rankings, in O(ranks x relevant rows) per frequency, and
// the Fourier series computed from it. The row at each rank is relevant with probability (relevant rows left) / (rows
// left). State c holds the sum, over all ways to have c relevant rows so far, of probability times exp(i t (metric
// value so far)). With sampling weights, rows are drawn without replacement (Plackett 1975, Luce 1959), and both counts
// in the probability are multiplied by the weights of their rows.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

/// number of frequencies that one call of `characteristic` computes together
constexpr int64_t frequency_lanes = 16;

/// Input of `characteristic`: how many rows a list has in each level (a group of rows of equal gain), and the angle,
/// frequency times contribution to the metric, that a row of level l adds at rank r. Level 0 has no gain and adds
/// nothing.
struct RankingTransform {
  int64_t n = 0;
  int64_t levels = 1;
  // [levels]: number of rows in level 1, 2, ...; all rows of a level have the same gain
  const int64_t* rows_of = nullptr;
  // [levels]: sampling weight of a row of each level; rows of level 0 have weight 1; null: all rows have weight 1
  const double* weights = nullptr;
  // true for average precision: the c-th relevant row from the top adds c times the angle of its rank; allowed only if
  // the list has one level (one gain above 0)
  bool cumulative = false;
  // [n]: smallest number of relevant rows in the first r + 1 ranks that is not negligibly rare; used only for lists
  // with one level (one gain above 0)
  const int32_t* low = nullptr;
  // [n]: largest number of relevant rows in the first r + 1 ranks that is not negligibly rare; used only for lists
  // with one level (one gain above 0)
  const int32_t* high = nullptr;
  /// The angle at rank r and level l is given by exp(i angle) = start[r][l] * powers[r][l][j], where j is a frequency.
  /// Complex numbers are stored as real parts, then imaginary ones: start [n][levels][2], powers
  /// [n][levels][2][frequency_lanes].
  const double* start = nullptr;
  const double* powers = nullptr;
};

/// Returns the number of doubles that `characteristic` needs as scratch memory.
int64_t characteristic_scratch(const RankingTransform& transform);
/// Pointers to loops that are compiled once per instruction set.
struct FrequencyLoops {
  /// Writes the characteristic function of `transform` at `frequency_lanes` frequencies: re[j] + i im[j].
  void (*characteristic)(const RankingTransform& transform, double* scratch, double* re, double* im);
  /// Evaluates two polynomials at `frequency_lanes` complex points w: writes the real part of the sum of c_k w^k to
  /// `first` and the imaginary part of the sum of b_k w^k to `second`, for k = 1 .. terms. `coefficients` [terms][4]
  /// has the complex numbers c_k and b_k.
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
