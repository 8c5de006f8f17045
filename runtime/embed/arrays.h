// Tensors that use the memory of a caller's arrays, and arrays that use the memory of tensors.
#pragma once

#include "runtime/embed/moonrank.h"
#include "runtime/tensor/tensor.h"

namespace mr::embed {

/// One call of the C interface. Arrays that become free while it lives are released at its end. It must be made before
/// the lock of calls is taken.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

/// Returns a tensor that reads the array in place. Calls the array's `release` when the last tensor on its memory is
/// gone, also if this function throws.
Tensor tensor_on(const moonrank_array& array);
/// Returns an array on a tensor's memory, which the caller releases; a tensor of the GPU is copied first.
moonrank_array array_on(const Tensor& tensor);

}  // namespace mr::embed
