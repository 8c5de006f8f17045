// The rows of a list that can be the worse row of a pair, in arrays over which the CPU's pairwise losses run.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/core/view.h"
#include "kernels/smooth/pair_pieces.h"

namespace mr::cpu {

/// Arrays of one thread. All but `of_better` have an entry per worse row, in the order of `at`, and all but `at` and
/// `of_better` are padded for vectors.
template <class Row>
struct WorseRows {
  std::vector<int64_t> at;      // positions of the rows in the batch
  std::vector<double> columns;  // the members of the rows' Row: first one member of all rows, then the next
  std::vector<double> scores, weights, slopes, curvatures;
  std::vector<double> exponentials, inverses;  // as in ExponentialPairs
  std::vector<double> of_better;               // the same exponentials, of the list's better rows

  auto in_use() {
    return Kept(at, columns, scores, weights, slopes, curvatures, exponentials, inverses, of_better, levels_, places_,
                below_, next_, unsorted_);
  }

  int64_t padded() const { return static_cast<int64_t>(scores.size()); }

  /// Sorts `at` by the rows' levels. Rows of equal levels keep their order.
  void sort(const Span<Row>& rows) {
    find_places(rows);
    below_.assign(levels_.size() + 1, 0);
    for (const size_t place : places_) ++below_[place + 1];
    for (size_t v = 1; v < below_.size(); ++v) below_[v] += below_[v - 1];
    next_ = below_;
    unsorted_ = at;
    for (size_t j = 0; j < at.size(); ++j) at[static_cast<size_t>(next_[places_[j]]++)] = unsorted_[j];
  }
  /// Returns how many rows have a lower level, after `sort`.
  int64_t below(double level) const { return below_[place_of(level)]; }

  /// Copies the rows and scores at `at`, and sets the sums to 0.
  template <class Real>
  void fill(const Span<Row>& rows, const Span<const Real>& from, bool with_curvatures) {
    const auto size = static_cast<size_t>(filled_up(static_cast<int64_t>(at.size())));
    for (auto* each : {&scores, &weights, &slopes}) each->assign(size, 0.0);
    curvatures.assign(with_curvatures ? size : 0, 0.0);
    columns.resize(members * size);
    for (size_t j = 0; j < at.size(); ++j) {
      scores[j] = from[at[j]];
      const auto values = std::bit_cast<std::array<double, members>>(rows[at[j]]);
      for (size_t m = 0; m < members; ++m) columns[m * size + j] = values[m];
    }
    for (size_t m = 0; m < members; ++m) {
      std::fill_n(column(m) + at.size(), size - at.size(), std::numeric_limits<double>::infinity());
    }
  }
  /// Returns the m-th member of all rows. Entries of the padding are infinite, so no pair has its worse row there.
  double* column(size_t m) { return columns.data() + m * scores.size(); }
  Row row(size_t j) const {
    std::array<double, members> values;
    for (size_t m = 0; m < members; ++m) values[m] = columns[m * scores.size() + j];
    return std::bit_cast<Row>(values);
  }

 private:
  static constexpr size_t members = sizeof(Row) / sizeof(double);

  /// Sets `levels_` and `places_`. Grades usually have few different values, which are inserted one by one.
  void find_places(const Span<Row>& rows) {
    levels_.clear();
    places_.resize(at.size());
    for (size_t j = 0; j < at.size(); ++j) {
      const double level = rows[at[j]].level;
      const size_t place = place_of(level);
      places_[j] = place;
      if (place < levels_.size() && levels_[place] == level) continue;
      if (levels_.size() == most_compared) return find_many_places(rows);
      levels_.insert(levels_.begin() + static_cast<int64_t>(place), level);
      for (size_t before = 0; before < j; ++before) places_[before] += places_[before] >= place ? 1 : 0;
    }
  }
  void find_many_places(const Span<Row>& rows) {
    levels_.clear();
    for (const int64_t k : at) levels_.push_back(rows[k].level);
    std::sort(levels_.begin(), levels_.end());
    levels_.erase(std::unique(levels_.begin(), levels_.end()), levels_.end());
    for (size_t j = 0; j < at.size(); ++j) places_[j] = place_of(rows[at[j]].level);
  }
  /// Returns the number of levels below `level`. Comparing it with each of a few levels has no branch that depends on
  /// the data.
  size_t place_of(double level) const {
    if (levels_.size() > most_compared)
      return static_cast<size_t>(std::lower_bound(levels_.begin(), levels_.end(), level) - levels_.begin());
    size_t place = 0;
    for (const double each : levels_) place += each < level ? 1 : 0;
    return place;
  }
  static constexpr size_t most_compared = 16;

  std::vector<double> levels_;  // the different levels, ascending
  std::vector<size_t> places_;  // the place of each row's level in `levels_`
  std::vector<int64_t> below_;  // for each of `levels_`, the number of rows with a lower level; at last, of all rows
  std::vector<int64_t> next_, unsorted_;
};

}  // namespace mr::cpu
