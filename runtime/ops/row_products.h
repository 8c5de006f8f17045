// Records inner products of the rows of two matrices, as in factor models, for the backward pass. If the rows were
// gathered from a table, the gradient goes to the table at once, and is not stored for each gathered row.
#pragma once

#include <optional>
#include <utility>

#include "runtime/autograd/node.h"

namespace mr {

/// Computes the derivative of rows(x, index) by x.
struct RowsVjp {
  Tensor index;
  Gradients operator()(const Tensor& g) const { return {Gradient(index, g)}; }
};

/// Returns a and b if `product` is a recorded elementwise product of two different tensors a and b of the same shape.
/// Returns nothing for other tensors.
std::optional<std::pair<Tensor, Tensor>> factors_of(const Tensor& product);

/// Records `out`, whose entry i is the inner product of row i of a and row i of b.
Tensor record_row_products(const char* name, const Tensor& out, const Tensor& a, const Tensor& b);

}  // namespace mr
