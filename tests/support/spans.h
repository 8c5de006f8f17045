// Converts vectors to the spans that kernels take.
#pragma once

#include <vector>

#include "kernels/core/view.h"

namespace mr::test {

/// Returns a span through which a kernel can write to the vector.
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
