// Bins of scores on the GPU, for boxes.cuh: which lists are summed by bins, and which rows are in each bin. A bin is an
// interval of scores that is as wide as a box (box_table.h).
#pragma once

#include <cmath>

#include "kernels/core/view.h"
#include "kernels/device/launch.cuh"
#include "kernels/ranking/order.cuh"
#include "kernels/smooth/boxes/box_table.h"
#include "kernels/smooth/list_pairs.cuh"

namespace mr::cuda {

/// Each bin of a list has at least this many rows on average, which bounds the number of bins.
constexpr int64_t rows_per_bin = 8;

MR_HD inline int64_t first_bin(const Ragged& lists, int64_t list) { return lists.begin(list) / rows_per_bin + list; }

/// A list's bins: x = steepness (s - shift) is in bin round(x / width) - first. A list without bins is summed over
/// pairs.
struct BinSpread {
  double shift = 0, first = 0;
  int64_t bins = 0;
};

/// The bin of a score, and its position within the bin, in [-1, 1].
template <class Real>
struct BinPosition {
  int64_t bin;
  Real u;

  MR_HD BinPosition(const BinSpread& spread, Real score, double steepness) {
    constexpr double width = BoxShape<Real>::width;
    const double x = steepness * (static_cast<double>(score) - spread.shift), box = std::rint(x / width);
    bin = static_cast<int64_t>(box - spread.first);
    u = static_cast<Real>((x - box * width) * (2 / width));
  }
};

/// Computes the bins (equal intervals of scores) of each list that is summed by boxes. A list needs enough pairs,
/// finite scores, and enough rows per bin; any other list gets no bins.
template <class Work>
struct FindSpreads {
  Work work;
  int64_t least_pairs;
  BinSpread* spreads;
  uint8_t* done;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t n = work.lists.size(list);
    BinSpread found;
    if (work.boxes_can(list) && work.pairs(list) >= least_pairs && n >= rows_per_bin) {
      const auto* const s = work.scores() + work.lists.begin(list);
      const double high = group.max(n, -HUGE_VAL, [&](int64_t i) { return static_cast<double>(s[i]); });
      const double low = -group.max(n, -HUGE_VAL, [&](int64_t i) { return -static_cast<double>(s[i]); });
      found = spread(low, high, n);
    }
    group.each(1, [&](int64_t) {
      spreads[list] = found;
      done[list] = found.bins > 0 ? 1 : 0;
    });
  }

  MR_HD BinSpread spread(double low, double high, int64_t n) const {
    constexpr double width = BoxShape<typename Work::Number>::width;
    const double middle = 0.5 * (low + high), span = std::fabs(work.steepness()) * (high - low);
    BinSpread out;
    // no bins if the scores are too widely spread, or if their span is infinite or NaN
    if (!(span <= width * static_cast<double>(n))) return out;
    if (span <= width || std::fabs(middle) > high - low) out.shift = middle;
    const double one = std::rint(work.steepness() * (low - out.shift) / width),
                 other = std::rint(work.steepness() * (high - out.shift) / width);
    const double bins = std::fabs(other - one) + 1;
    if (bins * static_cast<double>(rows_per_bin) > static_cast<double>(n)) return out;
    out.first = one < other ? one : other;
    out.bins = static_cast<int64_t>(bins);
    return out;
  }
};

/// The rows of a batch by bin (interval of scores), in device memory. `keys`: the bin of each row, or `none` for rows
/// of lists without bins; sorted in ascending order. `rows`: row numbers in the order of `keys`. `slots`: for each
/// row, its index among the marked rows of its list, or -1 if it is not marked. Bin b has the positions starts[b] ..
/// starts[b + 1] - 1 of `rows`.
template <class Real>
struct Bins {
  Ragged lists;
  const BinSpread* spreads;
  uint64_t* keys;
  int64_t* rows;
  int32_t* slots;
  int64_t* starts;
  int64_t none;

  MR_HD int64_t size(int64_t bin) const { return starts[bin + 1] - starts[bin]; }
  MR_HD int64_t list_in(int64_t bin) const { return list_of(lists, rows[starts[bin]]); }
};

template <class Work>
struct FillKeys {
  Work work;
  Bins<typename Work::Number> bins;

  MR_HD void operator()(int64_t row) const {
    using Real = typename Work::Number;
    const int64_t list = list_of(work.lists, row);
    const BinSpread spread = bins.spreads[list];
    bins.rows[row] = row;
    bins.keys[row] = static_cast<uint64_t>(bins.none);
    if (spread.bins == 0) return;
    const BinPosition<Real> position(spread, work.scores()[row], work.steepness());
    const int64_t bin = position.bin < 0 ? 0 : position.bin < spread.bins ? position.bin : spread.bins - 1;
    bins.keys[row] = static_cast<uint64_t>(first_bin(work.lists, list) + bin);
    bins.slots[row] = static_cast<int32_t>(slot_of(work.marked(), list, row - work.lists.begin(list)));
  }
};

/// Computes where each bin starts: the first position whose key is not below the bin's number. There is one start more
/// than there are bins.
template <class Real>
struct FillStarts {
  Bins<Real> bins;
  int64_t positions;

  MR_HD void operator()(int64_t bin) const {
    int64_t low = 0, high = positions;
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (bins.keys[middle] < static_cast<uint64_t>(bin)) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    bins.starts[bin] = low;
  }
};

}  // namespace mr::cuda
