// Product of two matrices, without graph.
#pragma once

#include "runtime/tensor/tensor.h"

namespace mr {

/// op(a) op(b), where op transposes if told to.
Tensor product(const Tensor& a, bool transpose_a, const Tensor& b, bool transpose_b);

}  // namespace mr
