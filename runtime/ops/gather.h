// Entries taken along a dimension by their numbers, and put back.
#pragma once

#include "runtime/tensor/tensor.h"

namespace mr {

/// Entries of x along dimension d, counted from 0, at these numbers (int64, counted from 1, not checked).
Tensor taken_along(const Tensor& x, int d, const Tensor& index);
/// A tensor of this shape, 0 but for those entries; none is meant twice.
Tensor put_along(const Tensor& values, const Shape& shape, int d, const Tensor& index);

}  // namespace mr
