// Views of arrays that kernels work on: plain pointers with sizes, valid on the device that the kernel runs on.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/core/hd.h"

namespace mr {

/// Consecutive values in memory. The view does not own them.
template <class T>
struct Span {
  T* data = nullptr;
  int64_t size = 0;

  MR_HD T& operator[](int64_t i) const { return data[i]; }
  /// Converts to Span<const T>. It is a template because nvcc warns about a conversion of Span<const T> to itself.
  template <class U>
  requires(std::is_same_v<U, const T> && !std::is_const_v<T>) MR_HD operator Span<U>() const { return {data, size}; }
};

/// Offsets of ragged lists: list l holds entries offsets[l] .. offsets[l + 1] - 1.
struct Ragged {
  const int64_t* offsets = nullptr;
  int64_t count = 0;

  MR_HD int64_t begin(int64_t list) const { return offsets[list]; }
  MR_HD int64_t size(int64_t list) const { return offsets[list + 1] - offsets[list]; }
};

/// Some rows of every list: `rows` holds their positions within the list, ascending. A null `rows` means every row.
struct Chosen {
  Ragged lists;
  const int32_t* rows = nullptr;

  MR_HD int64_t size(int64_t list) const { return lists.size(list); }
  MR_HD int64_t begin(int64_t list) const { return lists.begin(list); }
  MR_HD int64_t operator()(int64_t list, int64_t slot) const { return rows ? rows[lists.begin(list) + slot] : slot; }
  MR_HD bool operator==(const Chosen& other) const {
    return rows == other.rows && lists.offsets == other.lists.offsets;
  }
};

/// A view of an index tensor. Index tensors count from 1, as Lua does; kernels read positions counted from 0.
struct IndexView {
  const int64_t* data = nullptr;

  MR_HD int64_t operator[](int64_t i) const { return data[i] - 1; }
};

/// How a tensor of at most `max_dims` dimensions is broadcast to the shape of the result. dims = 0 marks two simple
/// cases: the tensor has the shape of the result (step 1), or it is a single number (step 0).
struct Broadcast {
  static constexpr int max_dims = 6;
  int dims = 0;
  int64_t step = 1;
  int64_t shape[max_dims] = {};
  int64_t stride[max_dims] = {};

  MR_HD int64_t operator()(int64_t i) const {
    if (dims == 0) return i * step;
    int64_t at = 0;
    for (int d = dims - 1; d >= 0; --d) {
      at += i % shape[d] * stride[d];
      i /= shape[d];
    }
    return at;
  }
};

}  // namespace mr
