// Gather and scatter of tensor entries along a dimension.
#pragma once

#include "runtime/tensor/tensor.h"

namespace mr {

/// Gathers entries of x along dimension d, counted from 0. `index` is int64, counts from 1, and is not checked.
Tensor taken_along(const Tensor& x, int d, const Tensor& index);
/// Scatters values into a tensor of the given shape that is 0 elsewhere. No two values may belong to the same entry.
Tensor put_along(const Tensor& values, const Shape& shape, int d, const Tensor& index);

}  // namespace mr
