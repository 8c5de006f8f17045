// How shapes are aligned: broadcasting of two operands, and the runs of entries that a reduction over a dimension adds
// up.
#pragma once

#include "kernels/tensor/reduce.h"
#include "runtime/tensor/tensor.h"

namespace mr {

/// The shape of a elementwise b: sizes line up from the last dimension, 1 stretches. Throws ArgumentError "b" where
/// they do not.
Shape broadcast_shape(const Shape& a, const Shape& b);
/// How a tensor of shape `from` is read where the result has shape `to`.
Broadcast broadcast_of(const Shape& from, const Shape& to);
/// How the entries of a transposed, expanded or sliced tensor lie in the original: sizes of the result, strides in the
/// original.
Broadcast strided(const Shape& shape, const std::vector<int64_t>& strides);
/// Runs along dimension d.
Runs runs_along(const Shape& shape, int d);
/// All entries as one run.
Runs one_run(int64_t entries);
/// The rows with these numbers, counted from 1; differentiable.
Tensor rows_of(const Tensor& x, const Tensor& index);
/// The derivative by an operand of shape `shape` that was broadcast: sums over what was stretched.
Tensor sum_to(const Tensor& gradient, const Shape& shape);

}  // namespace mr
