// Tensors on arrays of the caller, and the caller's arrays on tensors.
#pragma once

#include "runtime/embed/moonrank.h"
#include "runtime/tensor/tensor.h"

namespace mr::embed {

/// Arrays that become free while it lives are released at its end. It must be made before the lock of calls is taken.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

/// A tensor that reads the array in place. Calls the array's `release` when the last tensor on its memory is gone, also
/// if this function throws.
Tensor tensor_on(const moonrank_array& array);
/// An array on a tensor's memory, which the caller releases; a tensor of the GPU is copied first.
moonrank_array array_on(const Tensor& tensor);

}  // namespace mr::embed
