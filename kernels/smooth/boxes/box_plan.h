// Assigns the rows of a list to boxes, which are intervals of scores with one width. Within a box the marked rows (the
// relevant ones) come first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/smooth/boxes/box.h"

namespace mr::cpu {

template <class T>
T* room(std::vector<T>& v, int64_t n) {
  if (static_cast<int64_t>(v.size()) < n) v.resize(static_cast<size_t>(n));
  return v.data();
}

/// The scores of a list's n rows, of which `rows` lists the `marked` rows (the relevant ones). If `rows` is null, all
/// are marked.
template <class Real>
struct BoxRows {
  const Real* scores;
  int64_t n;
  const int32_t* rows;
  int64_t marked;
  double steepness;
};

/// The spread of a list's scores, computed in one pass.
struct BoxSpread {
  // number that is subtracted from all scores, so that large scores with small differences keep their digits
  double shift = 0;
  double first = 0, last = 0;  // box numbers of the lowest and the highest score
  bool one_box = false;
  bool counted = false;  // true if there are few enough box numbers to sort rows by counting
  // false if boxes cannot be used: scores are so large that rounding would lose their positions within boxes, although
  // other scores are near them
  bool fits = true;
};
template <class Real>
BoxSpread box_spread(const Real* scores, int64_t n, double steepness);

/// Returns the number of boxes (intervals of scores) that are not empty, or an upper bound of it if the scores are too
/// widely spread to count rows per box.
template <class Real>
int64_t count_boxes(const Real* scores, int64_t n, double steepness, const BoxSpread& spread);

/// A box (interval of scores) with its rows: positions first .. marked_last - 1 hold marked rows, marked_last .. last -
/// 1 others.
struct Box {
  int32_t first, marked_last, last;
};

struct BoxChunk {
  int32_t box, first, last;
};
constexpr int64_t box_chunk = 8192;

/// The assignment of a list's rows to boxes. Each thread reuses one.
template <class Real>
struct BoxPlan {
  // boxes whose numbers differ by more than this are infinitely far apart: the sigmoid counts as 0 or 1
  int64_t reach = 0;
  std::vector<Box> boxes;
  std::vector<int64_t> index;                  // for every box: its number on the axis of scores, in box widths
  std::vector<int32_t> near_first, near_last;  // for every box: the range of boxes within `reach`
  std::vector<BoxChunk> chunks;
  // for every row in box order: the position of its score in the box, in [-1, 1]; then 16 zeros as padding
  std::vector<Real> u;
  // for every row in box order: its index among the marked rows if it is marked, else its row number
  std::vector<int32_t> item;

  const BoxLoops<Real>* loops = nullptr;  // the SIMD loops that compute and read this plan, for one instruction set

  void make(const BoxRows<Real>& rows, const BoxLoops<Real>& by);
  int64_t bytes() const {
    return bytes_of(boxes, index, near_first, near_last, chunks, u, item, keys_, counts_, unsorted_);
  }

 private:
  std::vector<int32_t> keys_, counts_;
  std::vector<Real> unsorted_;

  void one_box(const BoxRows<Real>& rows, double shift);
  void begin_boxes(int32_t* counts, int64_t bins, int64_t pieces, int64_t width);
  void by_counting(const BoxRows<Real>& rows, int64_t bins);
  void by_sorting(const BoxRows<Real>& rows, const BoxSpread& spread);
  void mark(const BoxRows<Real>& rows);
  void link();
};

}  // namespace mr::cpu
