// Which rows of a list lie in which box. Within a box the marked rows (the relevant ones) come first, then the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/core/scratch.h"
#include "kernels/smooth/box.h"

namespace mr::cpu {

/// A vector that never shrinks.
template <class T>
T* room(std::vector<T>& v, int64_t n) {
  if (static_cast<int64_t>(v.size()) < n) v.resize(static_cast<size_t>(n));
  return v.data();
}

/// Scores of n rows of which `marked` are marked; null `rows`: all of them are.
template <class Real>
struct BoxRows {
  const Real* scores;
  int64_t n;
  const int32_t* rows;
  int64_t marked;
  double gain;
};

/// How the scores of a list are spread, from one pass over them.
struct BoxSpread {
  double shift = 0;            // subtracted from scores, so that large ones keep their digits
  double first = 0, last = 0;  // box numbers of the least and the largest, boxes centred at multiples of the width
  bool one_box = false;
  bool counted = false;  // so few box numbers that rows are sorted by counting
  bool fits = true;      // else rounding loses a score's position in its box, and it is not far from all others
};
template <class Real>
BoxSpread box_spread(const Real* scores, int64_t n, double gain);

/// Non-empty boxes, at most; for counted boxes their number.
template <class Real>
int64_t count_boxes(const Real* scores, int64_t n, double gain, const BoxSpread& spread);

/// Positions first .. marked_last - 1 of a box hold marked rows, marked_last .. last - 1 others.
struct Box {
  int32_t first, marked_last, last;
};

/// Part of a box, of at most `box_chunk` positions.
struct BoxChunk {
  int32_t box, first, last;
};
constexpr int64_t box_chunk = 8192;

/// One thread's plan.
template <class Real>
struct BoxPlan {
  int64_t reach = 0;  // boxes further away than that count as infinitely far
  std::vector<Box> boxes;
  std::vector<int64_t> index;                  // of every box: its position in widths
  std::vector<int32_t> near_first, near_last;  // of every box: the boxes within reach
  std::vector<BoxChunk> chunks;
  std::vector<Real> u;        // of every position, in [-1, 1], and 16 zeros
  std::vector<int32_t> item;  // of every position: which marked row, counted among the marked, or which row of all

  const BoxLoops<Real>* loops = nullptr;  // for those who use the plan

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
