// Kernels that move entries: fill, convert, permute, gather by row, join.
#pragma once

#include <cstdint>

#include "kernels/core/view.h"

namespace mr {

template <class T>
struct Fill {
  Span<T> out;
  T value;
  MR_HD void operator()(int64_t i) const { out[i] = value; }
};

template <class T>
struct Arange {
  Span<T> out;
  double first, step;
  MR_HD void operator()(int64_t i) const { out[i] = static_cast<T>(first + static_cast<double>(i) * step); }
};

/// Converts numbers to type T, from the one of the three pointers that is not null.
template <class T>
struct Convert {
  Span<T> out;
  const float* from_float = nullptr;
  const double* from_double = nullptr;
  const int64_t* from_int = nullptr;
  MR_HD void operator()(int64_t i) const {
    out[i] = from_float    ? static_cast<T>(from_float[i])
             : from_double ? static_cast<T>(from_double[i])
                           : static_cast<T>(from_int[i]);
  }
};

/// Copies out[i] = in[from(i)]. It makes transposed copies, copies broadcast to a larger shape, and copies of slices.
template <class T>
struct StridedCopy {
  Span<const T> in;
  Span<T> out;
  Broadcast from;
  int64_t shift;
  MR_HD void operator()(int64_t i) const { out[i] = in[shift + from(i)]; }
};

/// Copies out[to(i)] = in[i]: the reverse of StridedCopy, for writing a part of a larger tensor.
template <class T>
struct StridedPut {
  Span<const T> in;
  Span<T> out;
  Broadcast to = {};
  int64_t shift = 0;
  MR_HD void operator()(int64_t i) const { out[shift + to(i)] = in[i]; }
};

/// Gathers rows: row index[r] of `in` becomes row r of `out`. The argument i is the position of an entry of `out`.
template <class T>
struct GatherRows {
  Span<const T> in;
  IndexView index;
  Span<T> out;
  int64_t width;
  MR_HD void operator()(int64_t i) const { out[i] = in[index[i / width] * width + i % width]; }
};

/// Gathers entries along one dimension: out[i] = in[base(i) + index[i] step], with `step` the stride of this dimension.
/// base(i) is the position with the coordinates of i in the other dimensions.
template <class T>
struct GatherAlong {
  Span<const T> in;
  IndexView index;
  Span<T> out;
  Broadcast base;
  int64_t step;
  MR_HD void operator()(int64_t i) const { out[i] = in[base(i) + index[i] * step]; }
};

/// Scatters entries along one dimension: out[base(i) + index[i] step] = in[i]. base(i) is the position with the
/// coordinates of i in the other dimensions. No two i write to the same entry.
template <class T>
struct PutAlong {
  Span<const T> in;
  IndexView index;
  Span<T> out;
  Broadcast base;
  int64_t step;
  MR_HD void operator()(int64_t i) const { out[base(i) + index[i] * step] = in[i]; }
};

/// Scatters rows: row r of `in` goes to row index[r] of `out`. The rows in `index` are distinct.
template <class T>
struct PutRows {
  Span<const T> in;
  IndexView index;
  Span<T> out;
  int64_t width;
  MR_HD void operator()(int64_t i) const { out[index[i / width] * width + i % width] = in[i]; }
};

}  // namespace mr
