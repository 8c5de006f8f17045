#include "kernels/smooth/boxes/box_plan.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kernels/core/scratch.h"
#include "kernels/core/threads.h"
#include "kernels/smooth/exponential_pairs.h"

namespace mr::cpu {
namespace {

/// Limits of scores (times steepness) between which boxes, intervals of scores, cannot be used. Below `exact_below`, a
/// score's position within its box is exact to 2^-12 of the box's width. From `apart_anyway` on, two scores are either
/// equal or so far apart that the sigmoid of their difference is 0 or 1.
constexpr double exact_below = 0x1p40, apart_anyway = 0x1p62;

bool is_far(double x) { return std::fabs(x) >= apart_anyway; }

int64_t most_bins(int64_t n) { return 4 * n + 1024; }

constexpr int64_t plan_piece = 16384;  // number of rows that one thread assigns and counts at a time
// with at most this many boxes, every range of `plan_piece` rows has its own counts of rows per box
constexpr int64_t piece_bins = 2048;

/// Assigns box numbers to scores so large that two different ones have a sigmoid of 0 or 1, infinities included. Each
/// distinct score gets a box of its own. Boxes are numbered in ascending order of score: those of large positive scores
/// come after all other boxes, those of large negative scores before them.
class FarScores {
 public:
  template <class Real>
  FarScores(const BoxRows<Real>& rows, double shift)
      : sign_(rows.steepness < 0 ? -1 : 1), apart_(3 * BoxShape<Real>::max_reach) {
    values().clear();
    for (int64_t i = 0; i < rows.n; ++i) {
      if (is_far(rows.steepness * (rows.scores[i] - shift))) values().push_back(sign_ * rows.scores[i]);
    }
    std::sort(values().begin(), values().end());
    values().erase(std::unique(values().begin(), values().end()), values().end());
  }

  int64_t number(double x, double score) const {
    const int64_t order = std::lower_bound(values().begin(), values().end(), sign_ * score) - values().begin() + 1;
    constexpr int64_t beyond = 2 * static_cast<int64_t>(exact_below);
    return x > 0 ? beyond + apart_ * order : -beyond - apart_ * (static_cast<int64_t>(values().size()) - order);
  }

 private:
  static std::vector<double>& values() {
    static constinit thread_local OfThread<std::vector<double>> the_values;
    return the_values.get();
  }

  Kept<double> kept_{values()};
  double sign_;
  int64_t apart_;
};

}  // namespace

template <class Real>
BoxSpread box_spread(const Real* scores, int64_t n, double steepness) {
  constexpr double width = BoxShape<Real>::width;
  BoxSpread out;
  Real low, high;
  pair_loops<Real>().range(scores, n, &low, &high);
  const double middle = 0.5 * (static_cast<double>(low) + high), span = static_cast<double>(high) - low;
  if (std::fabs(steepness) * span <= width) {
    out.one_box = true;
    out.shift = middle;
    return out;
  }
  if (std::fabs(middle) > span) out.shift = middle;
  const double ends[] = {steepness * (low - out.shift), steepness * (high - out.shift)};
  const double least = std::min(ends[0], ends[1]), most = std::max(ends[0], ends[1]);
  if (std::max(-least, most) < exact_below) {
    out.first = std::nearbyint(least / width);
    out.last = std::nearbyint(most / width);
    out.counted = out.last - out.first < static_cast<double>(most_bins(n));
    return out;
  }
  for (int64_t i = 0; i < n; ++i) {
    const double x = steepness * (scores[i] - out.shift);
    out.fits = out.fits && (std::fabs(x) < exact_below || is_far(x));
  }
  return out;
}

template <class Real>
int64_t count_boxes(const Real* scores, int64_t n, double steepness, const BoxSpread& spread) {
  if (spread.one_box) return 1;
  if (!spread.counted) return n;
  constexpr double width = BoxShape<Real>::width;
  const auto bins = static_cast<int64_t>(spread.last - spread.first) + 1;
  if (bins <= 2) return bins;
  static constinit thread_local OfThread<std::vector<uint8_t>> the_seen;
  std::vector<uint8_t>& seen = the_seen.get();
  const Kept kept(seen);
  uint8_t* const at = room(seen, bins);
  std::fill_n(at, bins, uint8_t{0});
  for (int64_t i = 0; i < n; ++i) {
    const double bin = steepness * (scores[i] - spread.shift) * (1 / width) - spread.first + 0.5;
    if (bin >= 0 && bin < static_cast<double>(bins)) at[static_cast<int64_t>(bin)] = 1;
  }
  return std::accumulate(at, at + bins, int64_t{0});
}

template <class Real>
void BoxPlan<Real>::make(const BoxRows<Real>& rows, const BoxLoops<Real>& by) {
  loops = &by;
  reach = BoxShape<Real>::reach(rows.n);
  room(u, rows.n + BoxShape<Real>::padded);
  room(item, rows.n);
  std::fill_n(u.data() + rows.n, BoxShape<Real>::padded, Real(0));
  const BoxSpread spread = box_spread(rows.scores, rows.n, rows.steepness);
  boxes.clear();
  index.clear();
  if (spread.one_box) {
    one_box(rows, spread.shift);
  } else if (spread.counted) {
    room(unsorted_, rows.n);
    room(keys_, rows.n);
    const BoxGrid grid{rows.steepness, spread.shift, spread.first, spread.last - spread.first};
    parallel_each((rows.n + plan_piece - 1) / plan_piece, 1, [&](int64_t piece) {
      const int64_t from = piece * plan_piece;
      loops->assign(rows.scores + from, std::min(plan_piece, rows.n - from), grid, rows.rows != nullptr,
                    keys_.data() + from, unsorted_.data() + from);
    });
    const auto bins = static_cast<int64_t>(spread.last - spread.first) + 1;
    by_counting(rows, bins);
    for (int64_t& number : index) number += static_cast<int64_t>(spread.first);
  } else {
    by_sorting(rows, spread);
  }
  link();
}

/// Assigns all rows of a list to a single box, because their scores are close together. Within the box the marked
/// (relevant) rows come first.
template <class Real>
void BoxPlan<Real>::one_box(const BoxRows<Real>& rows, double shift) {
  const BoxGrid grid{rows.steepness, shift, 0, 0};
  boxes.push_back({0, static_cast<int32_t>(rows.marked), static_cast<int32_t>(rows.n)});
  index.push_back(0);
  Real* const to = rows.rows == nullptr ? u.data() : room(unsorted_, rows.n);
  loops->centre(rows.scores, rows.n, grid, to);
  std::iota(item.begin(), item.begin() + rows.marked, 0);
  if (rows.rows == nullptr) return;
  int64_t other = rows.marked;
  int32_t row = 0;
  for (int64_t slot = 0; slot <= rows.marked; ++slot) {
    const auto next = slot < rows.marked ? rows.rows[slot] : static_cast<int32_t>(rows.n);
    for (; row < next; ++row, ++other) {
      u[other] = to[row];
      item[other] = row;
    }
    if (slot < rows.marked) u[slot] = to[row++];
  }
}

template <class Real>
void BoxPlan<Real>::mark(const BoxRows<Real>& rows) {
  if (rows.rows == nullptr) return;
  for (int64_t slot = 0; slot < rows.marked; ++slot) --keys_[rows.rows[slot]];
}

/// Numbers the boxes that are not empty. Threads sort rows by key (box, and whether the row is marked) in ranges of
/// rows; for every key and range, computes the position at which these rows begin in box order.
template <class Real>
void BoxPlan<Real>::begin_boxes(int32_t* counts, int64_t bins, int64_t pieces, int64_t width) {
  int32_t total = 0;
  for (int64_t bin = 0; bin < bins; ++bin) {
    Box box{total, 0, 0};
    for (int half = 0; half < 2; ++half) {
      for (int64_t piece = 0; piece < pieces; ++piece) {
        total += std::exchange(counts[piece * width + 2 * bin + half], total);
      }
      (half == 0 ? box.marked_last : box.last) = total;
    }
    if (box.last == box.first) continue;
    boxes.push_back(box);
    index.push_back(bin);
  }
}

/// Sorts the rows by box, with a counting sort: keys_ has each row's key (2 box + other, where `other` is 1 for rows
/// that are not marked), and unsorted_ its position within the box. Keeps only boxes that are not empty.
template <class Real>
void BoxPlan<Real>::by_counting(const BoxRows<Real>& rows, int64_t bins) {
  mark(rows);
  const int64_t piece_rows = bins <= piece_bins ? plan_piece : rows.n, pieces = (rows.n + piece_rows - 1) / piece_rows;
  // Counts of different ranges of rows are never in one cache line, which avoids false sharing between threads.
  constexpr auto line = static_cast<int64_t>(64 / sizeof(int32_t));
  const int64_t width = (2 * bins + 2 * line - 1) / line * line;
  int32_t* const counts = room(counts_, pieces * width);
  parallel_each(pieces, 1, [&](int64_t piece) {
    int32_t* const mine = counts + piece * width;
    const int32_t* const keys = keys_.data();
    std::fill_n(mine, width, 0);
    for (int64_t i = piece * piece_rows; i < std::min(rows.n, (piece + 1) * piece_rows); ++i) ++mine[keys[i]];
  });
  begin_boxes(counts, bins, pieces, width);
  parallel_each(pieces, 1, [&](int64_t piece) {
    int32_t* const mine = counts + piece * width;
    const int64_t from = piece * piece_rows;
    auto slot = static_cast<int32_t>(
        rows.rows == nullptr ? from : std::lower_bound(rows.rows, rows.rows + rows.marked, from) - rows.rows);
    const int32_t* const keys = keys_.data();
    const Real* const unsorted = unsorted_.data();
    Real* const u_at = u.data();
    int32_t* const item_at = item.data();
    for (int64_t i = from; i < std::min(rows.n, from + piece_rows); ++i) {
      const int32_t marked = (keys[i] & 1) - 1,  // -1 or 0
          to = mine[keys[i]]++, row = static_cast<int32_t>(i);
      u_at[to] = unsorted[i];
      // the slot of a marked row, else its number: without a branch, which would depend on the data
      item_at[to] = row ^ ((row ^ slot) & marked);
      slot -= marked;
    }
  });
}

/// Assigns sparse scores to boxes: finds the boxes that are not empty by sorting.
template <class Real>
void BoxPlan<Real>::by_sorting(const BoxRows<Real>& rows, const BoxSpread& spread) {
  static constinit thread_local OfThread<std::vector<std::pair<int64_t, int32_t>>> the_sorted;
  std::vector<std::pair<int64_t, int32_t>>& sorted = the_sorted.get();
  static constinit thread_local OfThread<std::vector<int64_t>> the_numbers;
  std::vector<int64_t>& numbers = the_numbers.get();
  const Kept kept(sorted, numbers);
  sorted.clear();
  numbers.clear();
  const FarScores far(rows, spread.shift);
  room(unsorted_, rows.n);
  room(keys_, rows.n);
  for (int64_t i = 0; i < rows.n; ++i) {
    const double x = rows.steepness * (rows.scores[i] - spread.shift), box = std::nearbyint(x / BoxShape<Real>::width);
    const auto row = static_cast<int32_t>(i);
    if (is_far(x)) {
      sorted.emplace_back(far.number(x, rows.scores[i]), row);
      unsorted_[i] = 0;
    } else {
      sorted.emplace_back(std::fabs(box) <= exact_below ? static_cast<int64_t>(box) : 0, row);  // NaN becomes 0
      unsorted_[i] = static_cast<Real>((x - box * BoxShape<Real>::width) * (2 / BoxShape<Real>::width));
    }
  }
  std::sort(sorted.begin(), sorted.end());
  for (const auto& [number, row] : sorted) {
    if (numbers.empty() || numbers.back() != number) numbers.push_back(number);
    keys_[row] = static_cast<int32_t>(2 * (static_cast<int64_t>(numbers.size()) - 1) + (rows.rows != nullptr));
  }
  by_counting(rows, static_cast<int64_t>(numbers.size()));
  index = numbers;
}

/// Computes for each box the range of boxes near it, and cuts the rows into chunks, which are tasks for threads.
template <class Real>
void BoxPlan<Real>::link() {
  const auto count = static_cast<int64_t>(boxes.size());
  room(near_first, count);
  room(near_last, count);
  chunks.clear();
  int32_t first = 0, last = 0;
  for (int64_t box = 0; box < count; ++box) {
    while (index[box] - index[first] > reach) ++first;
    while (last < count && index[last] - index[box] <= reach) ++last;
    near_first[box] = first;
    near_last[box] = last;
    for (int32_t from = boxes[box].first; from < boxes[box].last; from += box_chunk) {
      const auto to = std::min(from + static_cast<int32_t>(box_chunk), boxes[box].last);
      chunks.push_back({static_cast<int32_t>(box), from, to});
    }
  }
}

template BoxSpread box_spread<float>(const float*, int64_t, double);
template BoxSpread box_spread<double>(const double*, int64_t, double);
template int64_t count_boxes<float>(const float*, int64_t, double, const BoxSpread&);
template int64_t count_boxes<double>(const double*, int64_t, double, const BoxSpread&);
template struct BoxPlan<float>;
template struct BoxPlan<double>;

}  // namespace mr::cpu
