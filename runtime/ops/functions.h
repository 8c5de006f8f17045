// Tensor operations for use by other C++ operations. They are recorded for the backward pass and check arguments, like
// the operations that scripts call.
#pragma once

#include <optional>
#include <variant>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr::ops {

using Operand = std::variant<Tensor, double>;

Tensor add(const Operand& a, const Operand& b);
Tensor sub(const Operand& a, const Operand& b);
Tensor mul(const Operand& a, const Operand& b);
Tensor div(const Operand& a, const Operand& b);
Tensor sqrt(const Tensor& x);
/// Returns the entries of a where the condition is not 0, and those of b elsewhere.
Tensor where(const Tensor& condition, const Operand& a, const Operand& b);
/// Returns the sum over all entries, or along a dimension counted from 1.
Tensor sum(const Tensor& x, std::optional<int64_t> dim);
Tensor mean(const Tensor& x, std::optional<int64_t> dim);
Tensor reshape(const Tensor& x, const Shape& shape);
Tensor transpose(const Tensor& x, int d, int e);
/// Returns the part of x that has `count` indices along dimension d, from index `first` on. d and `first` count from 0.
Tensor narrow(const Tensor& x, int d, int64_t first, int64_t count);
Tensor rows(const Tensor& x, const Tensor& index);

}  // namespace mr::ops
