// Merges sparse gradients whose values are products of a number and a row, without storing the products.
#pragma once

#include "runtime/autograd/node.h"

namespace mr {

/// Returns, on the CPU, the sparse gradient with values scale[i] * values[i] at the given rows, with repeated rows
/// merged. `scale` has a number for each row of `values`.
Gradient merged_products(const Tensor& rows, const Tensor& scale, const Tensor& values);

}  // namespace mr
