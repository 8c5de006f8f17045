// Sums and extremes of a tensor along dimensions, sums of chosen rows of a matrix, and inner products of rows. Sums use
// double accumulators; inner products use the type of the tensor.
#pragma once

#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"

namespace mr {

/// Positions of the entries that a reduction along dimensions reads. Entry o of the result is reduced from the `length`
/// entries at runs(o, j) of the input.
struct Runs {
  Broadcast kept, reduced;
  int64_t length = 0;
  MR_HD int64_t operator()(int64_t o, int64_t j) const { return kept(o) + reduced(j); }
};

template <class Real>
struct ReduceSum {
  Span<const Real> in;
  Span<Real> out;
  Runs runs;
  double scale;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    const double total = group.sum(runs.length, [&](int64_t j) { return in[runs(o, j)]; });
    group.each(1, [&](int64_t) { out[o] = static_cast<Real>(total * scale); });
  }
};

/// Finds the largest entry along dimensions (with `sign` = -1 the smallest) and the position, counted from 1, of its
/// first occurrence. If there is a NaN, the result is NaN.
template <class Real>
struct ReduceMax {
  Span<const Real> in;
  Span<Real> out;
  Span<int64_t> at;
  Runs runs;
  Real sign = 1;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t o) const {
    group.each(1, [&](int64_t) {
      int64_t best = 0;
      for (int64_t j = 1; j < runs.length; ++j) {
        const Real x = sign * in[runs(o, j)], top = sign * in[runs(o, best)];
        if (x > top || (x != x && top == top)) best = j;
      }
      out[o] = in[runs(o, best)];
      at[o] = best + 1;
    });
  }
};

/// Computes the derivative of a maximum: the entry that was the maximum gets the upstream derivative.
template <class Real>
struct ReduceMaxVjp {
  Span<const Real> upstream;
  Span<const int64_t> at;
  Span<Real> out;
  Runs runs;
  MR_HD void operator()(int64_t o) const { out[runs(o, at[o] - 1)] = upstream[o]; }
};

/// Sums groups of rows: row d of `out` is the sum of rows order[starts[d]] .. order[starts[d + 1] - 1] of `in`, added
/// in this order. The argument i is the position of an entry of `out`.
template <class Real>
struct SumRuns {
  Span<const Real> in;
  Span<const int64_t> order, starts;
  Span<Real> out;
  int64_t width;
  MR_HD void operator()(int64_t i) const {
    const int64_t row = i / width, column = i % width;
    double total = 0;
    for (int64_t k = starts[row]; k < starts[row + 1]; ++k) total += in[order[k] * width + column];
    out[i] = static_cast<Real>(total);
  }
};

template <class Real>
struct RowDot {
  Span<const Real> a, b;
  Span<Real> out;
  int64_t width;
  MR_HD void operator()(int64_t i) const {
    Real total = 0;
    for (int64_t c = 0; c < width; ++c) total += a[i * width + c] * b[i * width + c];
    out[i] = total;
  }
};

}  // namespace mr
