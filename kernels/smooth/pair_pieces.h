// Divides lists into pieces (ranges of rows) of fixed size on the CPU, so that one long list uses all threads and sums
// do not depend on the number of threads. Also the exponentials of a list's scores, which the loops of
// exponential_pairs.h read.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include "kernels/core/launch_cpu.h"
#include "kernels/core/scratch.h"
#include "kernels/core/view.h"
#include "kernels/smooth/exponential_pairs.h"

namespace mr::cpu {

constexpr int64_t target_piece = 512;
constexpr int64_t row_piece = 2048;

/// A part of a list: targets (rows ranked) or rows first .. last - 1, and the position of their partial sums.
struct Piece {
  int64_t list, first, last, slot;

  int64_t size() const { return last - first; }
};

/// Calls f(piece) for each piece (range of rows of a list), on all threads. others(list) is the number of rows that
/// each row of a piece of this list is paired with, from which the time is estimated.
void for_each_piece(const std::vector<Piece>& pieces, const auto& others, const auto& f) {
  // estimated nanoseconds for each piece (range of rows) of a list, for each row, and for each pair of rows
  constexpr double of_piece = 100, of_row = 4, of_pair = 0.1;
  double time = 0;
  for (const Piece& piece : pieces) {
    const auto n = static_cast<double>(piece.size()), m = static_cast<double>(others(piece.list));
    time += of_piece + of_row * (n + m) + of_pair * n * m;
  }
  const auto count = static_cast<int64_t>(pieces.size());
  parallel_each(count, tasks_of_piece(count, time), [&](int64_t i) { f(pieces[static_cast<size_t>(i)]); });
}

/// Cuts the targets (rows ranked) of all lists into pieces of at most `target_piece` rows, except lists for which
/// done(list) is true. The result is valid until the thread's next call.
inline const std::vector<Piece>& cut(const Chosen& targets, int64_t count, const auto& done) {
  static constinit thread_local OfThread<std::vector<Piece>> the_pieces;
  std::vector<Piece>& pieces = the_pieces.get();
  pieces.clear();
  for (int64_t list = 0; list < count; ++list) {
    if (done(list)) continue;
    for (int64_t first = 0; first < targets.size(list); first += target_piece) {
      pieces.push_back({list, first, std::min(first + target_piece, targets.size(list)), 0});
    }
  }
  return pieces;
}

constexpr auto none_done = [](int64_t) { return false; };

/// Returns a function that gives the number of targets (rows ranked) of a list. for_each_piece uses it to estimate the
/// time of tasks that pair every row with every target.
auto targets_of(const auto& work) {
  return [&work](int64_t list) { return work.targets.size(list); };
}

/// Temporary arrays for sums over pairs. Each thread has its own and reuses them for the next list.
template <class Real>
struct Scratch {
  std::vector<Real> sources, targets, weights;
  std::vector<double> sums, totals;

  auto in_use() { return Kept(sources, targets, weights, sums, totals); }
};
template <class Real>
Scratch<Real>& scratch() {
  static constinit thread_local OfThread<Scratch<Real>> the_scratch;
  return the_scratch.get();
}

inline int64_t filled_up(int64_t n) { return (n + pair_padding - 1) / pair_padding * pair_padding; }

/// Computes `centre`, the middle between a list's lowest and highest score, and `span`, their difference times the
/// steepness.
template <class Score>
struct ScoreSpan {
  double centre = 0, span = 0;

  ScoreSpan(const Score* s, int64_t n, double steepness) {
    if (n == 0) return;
    Score low, high;
    pair_loops<Score>().range(s, n, &low, &high);
    span = std::fabs(steepness) * (static_cast<double>(high) - low);
    centre = 0.5 * (static_cast<double>(low) + high);
  }
  /// Returns true if exponentials of scores relative to the middle are normal numbers. Infinite scores have an infinite
  /// or NaN span, which gives false.
  template <class Real>
  bool fits() const {
    return span <= ratio_span<Real>;
  }
};

/// Computes exp(steepness (s - centre)) for scores s, with `centre` the middle of the list's scores. Results have type
/// Real.
template <class Score, class Real = Score>
struct Exponentials {
  const Score* scores;
  double centre, steepness;

  /// Computes the exponentials of the scores of rows row_of(0) .. row_of(n - 1), padded with zeros. Returns the padded
  /// size.
  int64_t fill(std::vector<Real>& to, int64_t n, const auto& row_of) const {
    const int64_t size = filled_up(n);
    to.resize(static_cast<size_t>(size));
    for (int64_t j = 0; j < n; ++j) to[j] = scores[row_of(j)];
    std::fill(to.begin() + n, to.end(), static_cast<Real>(centre));
    pair_loops<Real>().exponentials(to.data(), size, steepness, centre);
    std::fill(to.begin() + n, to.end(), Real(0));
    return size;
  }
  int64_t fill(std::vector<Real>& to, const Chosen& chosen, int64_t list) const {
    return fill(to, chosen.size(list), [&](int64_t slot) { return chosen(list, slot); });
  }
  int64_t fill(std::vector<Real>& to, const Chosen& chosen, const Piece& piece) const {
    return fill(to, piece.size(), [&](int64_t slot) { return chosen(piece.list, piece.first + slot); });
  }
  /// Like `fill`, which computes exponentials of the scores of some rows, but copies them from `all`, the exponentials
  /// of all rows.
  static int64_t pick(std::vector<Real>& to, const std::vector<Real>& all, int64_t n, const auto& row_of) {
    const int64_t size = filled_up(n);
    to.resize(static_cast<size_t>(size));
    for (int64_t j = 0; j < n; ++j) to[j] = all[row_of(j)];
    std::fill(to.begin() + n, to.end(), Real(0));
    return size;
  }
};

/// Calls f(e), where `e` computes exponentials of a list's n scores, and returns true. The exponentials have type Real,
/// or double if the scores span too much for Real. Returns false if they span too much for double.
template <class Real, class Score>
bool with_exponentials(const Score* scores, int64_t n, double steepness, const auto& f) {
  const ScoreSpan<Score> of(scores, n, steepness);
  if (of.template fits<Real>()) {
    f(Exponentials<Score, Real>{scores, of.centre, steepness});
    return true;
  }
  if (std::is_same_v<Real, double> || !of.template fits<double>()) return false;
  f(Exponentials<Score, double>{scores, of.centre, steepness});
  return true;
}

}  // namespace mr::cpu
