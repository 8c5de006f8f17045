// Vectors as kernels see them.
#pragma once

#include <vector>

#include "kernels/core/view.h"

namespace mr::test {

/// To write to.
template <class T>
Span<T> slots(std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

/// To read.
template <class T>
Span<const T> view(const std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

}  // namespace mr::test
