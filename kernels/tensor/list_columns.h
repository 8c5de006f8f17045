// Reductions per list and column. The input is a matrix that has a row for each row of the lists; the result has a row
// per list.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"

namespace mr {

/// Sums the rows of each list, column by column. An empty list gives 0.
template <class Real>
struct ListColumnSum {
  Span<const Real> in;
  Ragged lists;
  int64_t width;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t begin = lists.begin(list), end = begin + lists.size(list);
    group.each(width, [&](int64_t c) {
      double total = 0;
      for (int64_t r = begin; r < end; ++r) total += in[r * width + c];
      out[list * width + c] = static_cast<Real>(total);
    });
  }
};

/// Finds the largest entry of each column in each list, and its position among all entries of the matrix, counted from
/// 0. An empty list gives -inf and position -1. If a column of a list has a NaN, the result is NaN.
template <class Real>
struct ListColumnMax {
  Span<const Real> in;
  Ragged lists;
  int64_t width;
  Span<Real> out;
  Span<int64_t> at;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t begin = lists.begin(list), end = begin + lists.size(list);
    group.each(width, [&](int64_t c) {
      int64_t best = begin < end ? begin * width + c : -1;
      for (int64_t r = begin + 1; r < end; ++r) {
        const int64_t i = r * width + c;
        if (in[i] > in[best] || (in[i] != in[i] && in[best] == in[best])) best = i;
      }
      out[list * width + c] = best < 0 ? Real(-INFINITY) : in[best];
      at[list * width + c] = best;
    });
  }
};

}  // namespace mr
