// Tensors that take over a vector's memory, so that large columns are not copied.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr {

/// A one-dimensional tensor on the CPU with the vector's numbers.
template <class T>
Tensor adopted(std::vector<T>&& values) {
  if (values.empty()) return Tensor::from(values);
  const auto owner = std::make_shared<std::vector<T>>(std::move(values));
  const auto count = static_cast<int64_t>(owner->size());
  return Tensor::on(std::make_shared<Storage>(owner->data(), count * static_cast<int64_t>(sizeof(T)), owner), {count},
                    dtype_of<T>);
}

}  // namespace mr
