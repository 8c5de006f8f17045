// BPR on the CPU: the pairs of several lists go through a vector loop together (row_sums.h), because lists may have one
// pair each. Lists of two rows, such as those of interactions with one negative, have a loop of their own.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/core/launch_cpu.h"
#include "kernels/losses/row_sums.h"
#include "kernels/losses/sampled_pairs.h"

namespace mr::cpu {

/// Computes BprLoss with the same bits.
template <class Real>
class VectorBpr {
 public:
  explicit VectorBpr(const BprLoss<Real>& work) : w_(work) {}

  /// Computes the lists `first` to last - 1.
  void operator()(int64_t first, int64_t last) const {
    for (int64_t list = first; list < last;) {
      check_interrupt();
      int64_t end = list, pairs = 0;
      while (end < last && end - list < most_pairs && is_two_rows(end)) ++end;
      if (end > list) {
        compute_two_rows(list, end);
        list = end;
        continue;
      }
      while (end < last && pairs + w_.pairs(end) <= most_pairs && !is_two_rows(end)) pairs += w_.pairs(end++);
      if (end > list) {
        compute(list, end);
        list = end;
      } else {
        w_(InterruptibleGroup{}, list++);
      }
    }
  }

 private:
  /// largest number of pairs that are computed together; a list with more pairs takes the plain form
  static constexpr int64_t most_pairs = 256;

  /// Calls f(relevant row, draw of the row, pair) for every pair of a list. Pairs count from 0 over all lists.
  template <class F>
  void each_pair(int64_t list, F f) const {
    if (w_.pairs(list) == 0) return;
    int64_t pair = w_.relevant.begin(list) * w_.draws;
    for (int64_t p = 0; p < w_.relevant.size(list); ++p) {
      const int64_t row = w_.lists.begin(list) + w_.relevant(list, p);
      for (int64_t d = 0; d < w_.draws; ++d) f(row, d, pair++);
    }
  }

  /// True for a list of a relevant row and another row, which make one pair, if it has no weight and only first
  /// derivatives are wanted.
  bool is_two_rows(int64_t list) const {
    return w_.draws == 1 && w_.lists.size(list) == 2 && w_.relevant.size(list) == 1 && w_.weights.data == nullptr &&
           w_.curvature.data == nullptr && w_.derivative.data != nullptr && w_.relevant.rows != nullptr;
  }
  /// Computes lists of two rows (`is_two_rows`).
  void compute_two_rows(int64_t first, int64_t last) const {
    std::array<double, most_pairs> wrong_by, values, slopes;
    const int64_t n = last - first, row = w_.lists.begin(first), pair = w_.relevant.begin(first);
    const int32_t* const relevant = w_.relevant.rows + pair;
    const Real* const scores = w_.scores.data + row;
    for (int64_t k = 0; k < n; ++k) {
      const int64_t other = 1 - relevant[k];
      w_.drawn[pair + k] = other;
      wrong_by[k] = score_difference<double>(scores[2 * k + other], scores[2 * k + relevant[k]], 1.0);
    }
    row_loops().softplus(wrong_by.data(), n, values.data(), slopes.data());
    Real* const derivative = w_.derivative.data + row;
    for (int64_t k = 0; k < n; ++k) {
      const auto term = static_cast<Real>(slopes[k]);
      w_.slopes[pair + k] = slopes[k];
      w_.value[first + k] = static_cast<Real>(values[k]);
      derivative[2 * k + relevant[k]] = 0 - term;
      derivative[2 * k + 1 - relevant[k]] = term;
    }
  }

  void compute(int64_t first, int64_t last) const {
    std::array<double, most_pairs> wrong_by, values, slopes;
    int64_t n = 0;
    for (int64_t list = first; list < last; ++list) {
      each_pair(list, [&](int64_t row, int64_t draw, int64_t pair) {
        const bool counts = row_weight(w_.weights, row) != 0;
        const RowDraws<Real> of = w_.draws_of(list, row);
        w_.drawn[pair] = counts ? of.position(static_cast<uint64_t>(draw)) : -1;
        wrong_by[n++] = counts ? of.wrong_by(w_.drawn[pair]) : 0;
      });
    }
    row_loops().softplus(wrong_by.data(), n, values.data(), slopes.data());
    n = 0;
    const auto draws = static_cast<double>(w_.draws);
    for (int64_t list = first; list < last; ++list) {
      double total = 0;
      each_pair(list, [&](int64_t row, int64_t, int64_t pair) {
        const double own = row_weight(w_.weights, row), slope = slopes[n];
        w_.slopes[pair] = own * slope / draws;
        if (w_.curvature.data != nullptr) w_.curvatures[pair] = own * LogisticPair::curvature_at_sigmoid(slope) / draws;
        if (own != 0) total += own * values[n] / draws;
        ++n;
      });
      w_.finish(SerialGroup{}, list, total);
    }
  }

  const BprLoss<Real>& w_;
};

template <class Real>
void bpr_by_vectors(int64_t count, const BprLoss<Real>& work) {
  constexpr double of_row = 16;  // estimated nanoseconds
  const double rows = count > 0 ? static_cast<double>(work.lists.begin(count)) : 0;
  parallel(count, tasks_of_piece(count, of_row * rows), VectorBpr<Real>(work));
}

}  // namespace mr::cpu
