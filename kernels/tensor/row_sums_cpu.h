// Sums of chosen rows of a matrix on the CPU, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

/// Adds rows order[0] .. order[n - 1] of matrix `in` in this order, in double precision. Rows have `width` entries.
/// Unless `scale` is null, row i is first multiplied by scale[i].
template <class Real>
struct RowSumLoops {
  void (*sum)(const Real* in, const Real* scale, const int64_t* order, int64_t n, int64_t width, Real* out);
};

}  // namespace mr::cpu
