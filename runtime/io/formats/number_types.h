// Types of numbers in array files of other programs, and conversion of such numbers to tensors.
#pragma once

#include <functional>

#include "runtime/tensor/tensor.h"

namespace mr::io {

enum class NumberType : uint8_t {
  boolean,
  int8,
  int16,
  int32,
  int64,
  uint8,
  uint16,
  uint32,
  uint64,
  float16,
  bfloat16,
  float32,
  float64
};

int64_t bytes_of(NumberType type);
/// Returns the dtype of a tensor that is read from file numbers of this type: int64 for all integers and booleans,
/// float32 for floating-point numbers that it holds exactly, else float64.
Dtype dtype_for(NumberType type);

/// Makes a tensor of this shape from numbers of a file, which `read(target, bytes)` delivers in order. `swapped`: the
/// byte order of the file is not the machine's. Throws std::range_error if a number does not fit into int64.
Tensor tensor_of_numbers(NumberType type, bool swapped, const Shape& shape,
                         const std::function<void(void* target, int64_t bytes)>& read);

}  // namespace mr::io
