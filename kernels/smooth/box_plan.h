// Assigns the rows of a list to boxes. Within a box the marked rows (the relevant ones) come first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/smooth/box.h"

namespace mr::cpu {

template <class T>
T* room(std::vector<T>& v, int64_t n) {
  if (static_cast<int64_t>(v.size()) < n) v.resize(static_cast<size_t>(n));
  return v.data();
}

/// Scores of n rows, of which `marked` are marked. If `rows` is null, all are marked.
template <class Real>
struct BoxRows {
  const Real* scores;
  int64_t n;
  const int32_t* rows;
  int64_t marked;
  double gain;
};

/// The spread of a list's scores, computed in one pass.
struct BoxSpread {
  double shift = 0;            // subtracted from scores to keep digits of large ones
  double first = 0, last = 0;  // box numbers of the lowest and highest score
  bool one_box = false;
  bool counted = false;  // true if there are few enough box numbers to sort rows by counting
  bool fits = true;      // false if rounding loses a score's position in its box although other scores are near
};
template <class Real>
BoxSpread box_spread(const Real* scores, int64_t n, double gain);

/// An upper bound of the number of non-empty boxes; exact for counted boxes.
template <class Real>
int64_t count_boxes(const Real* scores, int64_t n, double gain, const BoxSpread& spread);

/// A box. Positions first .. marked_last - 1 hold marked rows, positions marked_last .. last - 1 other rows.
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
  int64_t reach = 0;  // boxes further apart than this count as infinitely far apart
  std::vector<Box> boxes;
  std::vector<int64_t> index;                  // for every box: its position, in box widths
  std::vector<int32_t> near_first, near_last;  // for every box: the range of boxes within reach
  std::vector<BoxChunk> chunks;
  std::vector<Real> u;        // for every position: the score's offset in [-1, 1]; padded with 16 zeros
  std::vector<int32_t> item;  // for every position: the index among the marked rows, or the row number

  const BoxLoops<Real>* loops = nullptr;  // the loops that read this plan

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
