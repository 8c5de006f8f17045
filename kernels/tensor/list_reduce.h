// Reductions of each list's rows to one number, such as sum and maximum. The reverse is here too: one number per list,
// copied to all rows of the list.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/view.h"

namespace mr {

/// Sums the values of each list's rows, or computes their mean if `mean` is true. An empty list gives 0.
template <class Real>
struct ListSum {
  Span<const Real> in;
  Ragged lists;
  bool mean;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t n = lists.size(list), at = lists.begin(list);
    const double total = group.sum(n, [&](int64_t i) { return in[at + i]; });
    group.each(1,
               [&](int64_t) { out[list] = static_cast<Real>(mean && n > 0 ? total / static_cast<double>(n) : total); });
  }
};

/// Finds the largest value in each list, and its position among the rows of all lists, counted from 0. An empty list
/// gives -inf and position -1. A list with a NaN gives NaN.
template <class Real>
struct ListMax {
  Span<const Real> in;
  Ragged lists;
  Span<Real> out;
  Span<int64_t> at;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    group.each(1, [&](int64_t) {
      const int64_t n = lists.size(list), begin = lists.begin(list);
      int64_t best = n > 0 ? begin : -1;
      for (int64_t i = begin + 1; i < begin + n; ++i) {
        if (in[i] > in[best] || (in[i] != in[i] && in[best] == in[best])) best = i;
      }
      out[list] = best < 0 ? Real(-INFINITY) : in[best];
      at[list] = best;
    });
  }
};

template <class Real>
struct ListMaxVjp {
  Span<const Real> upstream;
  Span<const int64_t> at;
  Span<Real> out;
  MR_HD void operator()(int64_t list) const {
    if (at[list] >= 0) out[at[list]] = upstream[list];
  }
};

template <class Real>
struct ListSoftmax {
  Span<const Real> in;
  Ragged lists;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t n = lists.size(list), at = lists.begin(list);
    const Real top = group.max(n, Real(-INFINITY), [&](int64_t i) { return in[at + i]; });
    const double total = group.sum(n, [&](int64_t i) { return portable::exp(static_cast<double>(in[at + i] - top)); });
    group.each(n, [&](int64_t i) {
      out[at + i] = static_cast<Real>(portable::exp(static_cast<double>(in[at + i] - top)) / total);
    });
  }
};

template <class Real>
struct ListSoftmaxVjp {
  Span<const Real> y, upstream;
  Ragged lists;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t n = lists.size(list), at = lists.begin(list);
    const double inner = group.sum(n, [&](int64_t i) { return static_cast<double>(y[at + i]) * upstream[at + i]; });
    group.each(n, [&](int64_t i) { out[at + i] = static_cast<Real>(y[at + i] * (upstream[at + i] - inner)); });
  }
};

/// Computes running sums within each list: row i gets the sum of the rows up to i, or of the rows from i on if
/// `reverse`.
template <class Real>
struct ListCumsum {
  Span<const Real> in;
  Ragged lists;
  bool reverse;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    group.each(1, [&](int64_t) {
      const int64_t n = lists.size(list), at = lists.begin(list);
      double total = 0;
      for (int64_t k = 0; k < n; ++k) {
        const int64_t i = reverse ? at + n - 1 - k : at + k;
        total += static_cast<double>(in[i]);
        out[i] = static_cast<Real>(total);
      }
    });
  }
};

/// Copies the value of each list to all of its rows, divided by the number of rows if `mean` is true.
template <class Real>
struct Spread {
  Span<const Real> in;
  Ragged lists;
  bool mean;
  Span<Real> out;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t n = lists.size(list), at = lists.begin(list);
    const Real value = mean ? in[list] / static_cast<Real>(n) : in[list];
    group.each(n, [&](int64_t i) { out[at + i] = value; });
  }
};

}  // namespace mr
