// Sums of chosen rows of a matrix on the CPU, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

/// Adds the rows order[0] .. order[n - 1] of `in`, which have `width` entries, in this order in double precision. Row i
/// is multiplied by scale[i] first, unless `scale` is null.
template <class Real>
struct RowSumLoops {
  void (*sum)(const Real* in, const Real* scale, const int64_t* order, int64_t n, int64_t width, Real* out);
};

}  // namespace mr::cpu
