// Minimum, maximum, mean and variance of a metric over all rankings of N rows of which P are relevant (Westerborg 2022,
// chapter 3, with corrections that the tests prove by enumeration). A metric is linear if it is a sum over rows of a
// gain times a discount of the row's rank: nDCG, RBP, precision, recall. The code runs on the host, once for all lists
// of one shape.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "kernels/core/extended.h"
#include "kernels/core/threads.h"

namespace mr {

/// Statistics of a metric over random rankings. `best` is the value of the best ranking: the maximum for metrics, the
/// minimum for losses.
struct BoundStats {
  double min = 0, max = 0, best = 0, expectation = 0, variance = 0;
};

/// Returns the statistics of sum over rows of g_i d(R_i) / norm, where R_i is the rank of row i. The rearrangement
/// inequality gives the minimum and maximum. The mean is the mean of g times the sum of d. The variance is [sum g^2 -
/// (sum g)^2 / N] s2, with s2 the sample variance of the discounts. `gains` are descending and as many as `discounts`.
inline BoundStats linear_stats(const std::vector<double>& gains, const std::vector<double>& discounts, double norm) {
  const size_t n = gains.size();
  Extended least = 0, most = 0, gain_sum = 0, discount_sum = 0;
  for (size_t r = 0; r < n; ++r) {
    if ((r & 0xFFFFF) == 0) cpu::check_interrupt();
    most += static_cast<Extended>(gains[r]) * discounts[r];
    least += static_cast<Extended>(gains[n - 1 - r]) * discounts[r];
    gain_sum += gains[r];
    discount_sum += discounts[r];
  }
  const Extended gain_mean = gain_sum / n, discount_mean = discount_sum / n;
  Extended gain_square = 0, discount_square = 0;
  for (size_t r = 0; r < n; ++r) {
    gain_square += (gains[r] - gain_mean) * (gains[r] - gain_mean);
    discount_square += (discounts[r] - discount_mean) * (discounts[r] - discount_mean);
  }
  const Extended square = n > 1 ? gain_square * discount_square / (n - 1) : 0;
  // If `norm` is so large that norm * norm overflows, the variance of the sum is divided by `norm` twice instead.
  const double variance = std::isfinite(norm * norm) ? static_cast<double>(square) / (norm * norm)
                                                     : static_cast<double>(square / norm / norm);
  const auto max = static_cast<double>(most) / norm;
  return {static_cast<double>(least) / norm, max, max, static_cast<double>(gain_mean * discount_sum / norm), variance};
}

/// Returns the statistics of average precision for lists of N rows, P of them relevant, except its variance, which is
/// set to 0 (`ap_variance` computes it). The mean is Eq. 3.10, written as [(P - 1) + (N - P) H_N / N] / (N - 1) with
/// the harmonic number H_N = 1 + 1/2 + ... + 1/N.
inline BoundStats ap_stats(int64_t n, int64_t p) {
  Extended least = 0, harmonic = 0;
  for (int64_t i = 1; i <= p; ++i) least += static_cast<Extended>(i) / (n - p + i);
  for (int64_t r = n; r >= 1; --r) {
    if ((r & 0xFFFFF) == 0) cpu::check_interrupt();
    harmonic += 1 / static_cast<Extended>(r);
  }
  const Extended mean = n == 1 ? 1 : (p - 1 + (n - p) * harmonic / n) / (n - 1);
  return {static_cast<double>(least / p), 1, 1, static_cast<double>(mean), 0};
}

/// Returns the variance of average precision over random rankings of N rows, P of them relevant. The c-th relevant row
/// from the top, at rank r, adds c / r to a sum, which is P times average precision. The moments of the sum are
/// computed rank by rank, for each number c of relevant rows so far. Numbers c with a probability below 1e-24 are
/// skipped, so a rank takes O(sqrt(N)) of the P numbers.
inline double ap_variance(int64_t n, int64_t p) {
  struct Moments {
    double weight = 0, first = 0, second = 0;
    /// Adds the moments of another distribution, `was`, multiplied by `probability`, after all its values were shifted
    /// by x.
    void add(double probability, const Moments& was, double x) {
      weight += probability * was.weight;
      first += probability * (was.first + x * was.weight);
      second += probability * (was.second + 2 * x * was.first + x * x * was.weight);
    }
  };
  std::vector<Moments> by_count(static_cast<size_t>(p) + 1);
  by_count[0].weight = 1;
  // `centre` is the mean of what a rank adds to the sum. It is subtracted at every rank. Otherwise the variance, a
  // difference of moments, would lose digits to cancellation.
  const double centre = ap_stats(n, p).expectation * static_cast<double>(p) / static_cast<double>(n);
  int64_t least = 0, most = 0;
  for (int64_t r = 1; r <= n; ++r) {
    // Checks for Ctrl-C every 256 ranks: one rank may loop over 10,000 counts of relevant rows.
    if ((r & 0xFF) == 0) cpu::check_interrupt();
    const auto left = static_cast<double>(n - r + 1);
    most = std::min(most + 1, p);
    for (int64_t c = most; c >= least; --c) {
      Moments now;
      now.add(static_cast<double>(n - r + 1 - (p - c)) / left, by_count[c], -centre);
      const double gained = static_cast<double>(c) / static_cast<double>(r) - centre;
      if (c > least) now.add(static_cast<double>(p - c + 1) / left, by_count[c - 1], gained);
      by_count[c] = now;
    }
    while (least < most && by_count[least].weight < 1e-24) by_count[least++] = {};
    while (most > least && by_count[most].weight < 1e-24) by_count[most--] = {};
  }
  const Moments& end = by_count[p];
  const double mean = end.first / end.weight;
  return (end.second / end.weight - mean * mean) / (static_cast<double>(p) * static_cast<double>(p));
}

/// Returns the statistics of reciprocal rank for random rankings of N rows, P of them relevant. The probability that
/// the first relevant row is at rank r is p_r, with p_1 = P/N and p_{r+1} = p_r (N - P - r + 1) / (N - r).
inline BoundStats rr_stats(int64_t n, int64_t p) {
  double at = static_cast<double>(p) / static_cast<double>(n);
  Extended mean = 0, square = 0;
  for (int64_t r = 1; r <= n - p + 1; ++r) {
    if ((r & 0xFFFFF) == 0) cpu::check_interrupt();
    mean += at / static_cast<Extended>(r);
    square += at / (static_cast<Extended>(r) * r);
    at = r < n ? at * static_cast<double>(n - p - r + 1) / static_cast<double>(n - r) : 0;
  }
  return {1 / static_cast<double>(n - p + 1), 1, 1, static_cast<double>(mean),
          static_cast<double>(square - mean * mean)};
}

/// Returns the statistics of the number of wrongly ordered pairs of rows with unequal grades, where `rows` has the
/// number of rows of each grade. On average, half of the pairs are in the wrong order (Jonckheere 1954, Terpstra 1952,
/// whose statistic counts the correctly ordered pairs).
inline BoundStats wrong_pairs_stats(const std::vector<int64_t>& rows) {
  double n = 0, squares = 0, spread = 0;
  for (const int64_t of_grade : rows) {
    const auto k = static_cast<double>(of_grade);
    n += k;
    squares += k * k;
    spread += k * k * (2 * k + 3);
  }
  const double pairs = (n * n - squares) / 2;
  return {0, pairs, 0, pairs / 2, (n * n * (2 * n + 3) - spread) / 72};
}

/// Returns the statistics of the nRBP loss over random rankings. This loss is the number of wrongly ordered pairs of a
/// relevant and an irrelevant row (Eq. 3.3, 3.9), which is the Mann-Whitney statistic.
inline BoundStats nrbp_loss_stats(int64_t n, int64_t p) {
  const double pairs = static_cast<double>(p) * static_cast<double>(n - p);
  return {0, pairs, 0, pairs / 2, pairs * (static_cast<double>(n) + 1) / 12};
}

}  // namespace mr
