// Shapes of broadcast operands, and the runs of entries that a reduction over a dimension sums.
#pragma once

#include "kernels/tensor/reduce.h"
#include "runtime/tensor/tensor.h"

namespace mr {

/// Returns the shape to which a and b are broadcast. Throws ArgumentError "b" if the shapes are not compatible.
Shape broadcast_shape(const Shape& a, const Shape& b);
/// Describes how a tensor of shape `from` is broadcast to shape `to`.
Broadcast broadcast_of(const Shape& from, const Shape& to);
/// Describes how the entries of a transposed, expanded or sliced tensor are stored in the original: sizes of the
/// result, strides in the original.
Broadcast strided(const Shape& shape, const std::vector<int64_t>& strides);
Runs runs_along(const Shape& shape, int d);
Runs one_run(int64_t entries);
/// Gathers rows by their numbers, counted from 1; differentiable.
Tensor rows_of(const Tensor& x, const Tensor& index);
/// The derivative of broadcasting: sums `gradient` over the broadcast dimensions, to shape `shape`.
Tensor sum_to(const Tensor& gradient, const Shape& shape);

}  // namespace mr
