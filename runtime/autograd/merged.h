// Sparse gradients whose rows are products, summed without storing the products.
#pragma once

#include "runtime/autograd/node.h"

namespace mr {

/// Returns, on the CPU, the gradient that merged({rows, scale[i] * values[i] for each i}) gives. `scale` has a number
/// for each row of `values`.
Gradient merged_products(const Tensor& rows, const Tensor& scale, const Tensor& values);

}  // namespace mr
