// Tensors that use the memory of a caller's arrays, and arrays that use the memory of tensors.
#pragma once

#include "runtime/embed/moonrank.h"
#include "runtime/tensor/tensor.h"

namespace mr::embed {

/// Marks one call of the C interface. Callers' arrays that become unused during its life are released at its end. It
/// must be made before the calls' lock is taken, so that the lock is free by then.
class Call {
 public:
  Call();
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
};

/// Returns a tensor that uses the memory of a caller's array. When no tensor uses this memory any more, the array's
/// function `release` is called, also if this function throws.
Tensor tensor_on(const moonrank_array& array);
/// Returns an array that uses the memory of a tensor; a tensor on the GPU is copied to the CPU first. The caller must
/// release the array.
moonrank_array array_on(const Tensor& tensor);

}  // namespace mr::embed
