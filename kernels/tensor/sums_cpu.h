// Sums on the CPU: along one dimension, of chosen rows, and of products of two matrices' rows. Several sums are
// computed at once, because each addition of one sum waits for the previous one. Each sum adds its terms in the order
// of kernels/tensor/reduce.h, so the bits are equal.
#pragma once

#include <algorithm>

#include "kernels/core/launch_cpu.h"
#include "kernels/tensor/reduce.h"
#include "kernels/tensor/row_sums_cpu.h"

namespace mr::cpu {

/// Numbers of sums that are computed at once: columns_at_once if neighbouring sums lie side by side in memory,
/// rows_at_once if the terms of one sum do.
constexpr int64_t columns_at_once = 64, rows_at_once = 8;
/// Longest sum, in terms, that these kernels compute. They check for Ctrl-C only between sums, so longer ones use the
/// general kernel.
constexpr int64_t longest_sum = 1 << 20;

/// Divides entries 0 .. count - 1 into blocks of at most `most` entries and calls body(first, n) for each block.
template <class Body>
void blocks(int64_t count, int64_t most, const Body& body) {
  for (int64_t first = 0; first < count; first += most) body(first, std::min(most, count - first));
}

/// Sums rows of a matrix: row `row` of the result, of the first `rows`, is the sum of the rows order[starts[row]] ..
/// order[starts[row + 1] - 1] of the input. Row i of the input is multiplied by scale[i] first, unless `scale` is null.
template <class Real>
void sum_scaled_runs(int64_t rows, const Real* scale, const SumRuns<Real>& work) {
  const auto sum = chosen_loops<RowSumLoops<Real>>().sum;
  parallel(rows, rows_of_piece(std::max<int64_t>(1, work.width)), [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t begin = work.starts[row];
      sum(work.in.data, scale, work.order.data + begin, work.starts[row + 1] - begin, work.width,
          work.out.data + row * work.width);
    }
  });
}

template <class Real>
void sum_runs(int64_t count, const SumRuns<Real>& work) {
  if (count > 0) sum_scaled_runs<Real>(count / work.width, nullptr, work);
}

/// Computes results first .. last - 1 of a sum along a dimension; the terms of one result are `stride` entries apart in
/// memory.
template <class Real>
void sums_along(const ReduceSum<Real>& w, int64_t stride, int64_t first, int64_t last) {
  const int64_t length = w.runs.length;
  double totals[columns_at_once];
  for (int64_t o = first; o < last;) {
    const int64_t at = w.runs.kept(o);
    int64_t n = 1;  // number of neighbouring results whose terms lie side by side in memory
    while (o + n < last && n < columns_at_once && w.runs.kept(o + n) == at + n) ++n;
    std::fill(totals, totals + n, 0.0);
    for (int64_t j = 0; j < length; ++j) {
      const Real* const in = w.in.data + at + j * stride;
      for (int64_t c = 0; c < n; ++c) totals[c] += in[c];
    }
    for (int64_t c = 0; c < n; ++c) w.out[o + c] = static_cast<Real>(totals[c] * w.scale);
    o += n;
  }
}

/// Computes results first .. last - 1 of a sum along a dimension; the terms of one result are adjacent in memory.
template <class Real>
void sums_of_rows(const ReduceSum<Real>& w, int64_t first, int64_t last) {
  const int64_t length = w.runs.length;
  double totals[rows_at_once];
  const Real* in[rows_at_once];
  blocks(last - first, rows_at_once, [&](int64_t from, int64_t n) {
    for (int64_t r = 0; r < rows_at_once; ++r) {
      totals[r] = 0;
      in[r] = w.in.data + w.runs.kept(first + from + std::min(r, n - 1));
    }
    for (int64_t j = 0; j < length; ++j) {
      for (int64_t r = 0; r < rows_at_once; ++r) totals[r] += in[r][j];
    }
    for (int64_t r = 0; r < n; ++r) w.out[first + from + r] = static_cast<Real>(totals[r] * w.scale);
  });
}

template <class Real>
void reduce_sum(int64_t count, const ReduceSum<Real>& work) {
  const Broadcast& along = work.runs.reduced;
  const int64_t length = work.runs.length;
  if (count < 2 || length > longest_sum || along.dims > 1) return Backend::lists(count, work);
  const int64_t stride = along.dims == 0 ? along.step : along.stride[0];
  parallel(count, rows_of_piece(std::max<int64_t>(1, length)), [&](int64_t first, int64_t last) {
    if (stride == 1) {
      sums_of_rows(work, first, last);
    } else {
      sums_along(work, stride, first, last);
    }
  });
}

/// Computes the inner products of the rows of two matrices.
template <class Real>
void row_dot(int64_t count, const RowDot<Real>& work) {
  const int64_t width = work.width;
  parallel(count, rows_of_piece(std::max<int64_t>(1, width)), [&](int64_t first, int64_t last) {
    Real totals[rows_at_once];
    blocks(last - first, rows_at_once, [&](int64_t from, int64_t n) {
      const int64_t row = first + from;
      if (n < rows_at_once) {
        for (int64_t r = row; r < row + n; ++r) work(r);
        return;
      }
      std::fill(totals, totals + rows_at_once, Real(0));
      const Real *const a = work.a.data + row * width, *const b = work.b.data + row * width;
      for (int64_t c = 0; c < width; ++c) {
        for (int64_t r = 0; r < rows_at_once; ++r) totals[r] += a[r * width + c] * b[r * width + c];
      }
      std::copy(totals, totals + rows_at_once, work.out.data + row);
    });
  });
}

}  // namespace mr::cpu
