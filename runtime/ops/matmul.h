// Products of two matrices, which are not recorded for the backward pass.
#pragma once

#include "runtime/tensor/tensor.h"

namespace mr {

/// Returns op(a) op(b), where op transposes if the flag is set.
Tensor product(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b);
/// Writes op(a) op(b) to `out`, which has the shape of the product.
void product_into(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b, const Tensor& out);

}  // namespace mr
