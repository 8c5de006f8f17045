// Reductions over the rows of each list, for each column of a matrix with one row per row of the lists.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"

namespace mr {

/// Sums each column over the rows of a list; 0 for an empty list.
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

/// Finds the largest entry of each column, and its position among all entries, counted from 0 (-1 and -inf for an empty
/// list). A column with a NaN gives NaN.
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
