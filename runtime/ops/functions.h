// Operations that others are composed of in C++: recorded as those that scripts call, and with their checks.
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
/// Entries of a where the condition is not 0, of b elsewhere.
Tensor where(const Tensor& condition, const Operand& a, const Operand& b);
/// Over all entries, or along a dimension counted from 1.
Tensor sum(const Tensor& x, std::optional<int64_t> dim);
Tensor mean(const Tensor& x, std::optional<int64_t> dim);
Tensor reshape(const Tensor& x, const Shape& shape);
/// Dimensions d and e, counted from 0, change places.
Tensor transpose(const Tensor& x, int d, int e);
/// `count` indices of dimension d from `first`, both counted from 0.
Tensor narrow(const Tensor& x, int d, int64_t first, int64_t count);
Tensor rows(const Tensor& x, const Tensor& index);

}  // namespace mr::ops
