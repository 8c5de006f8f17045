// What a list's grades say about it.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"

namespace mr {

/// Whether a list's grades differ: else no ordering can matter.
template <class Group>
MR_HD bool grades_differ(const Group& group, const float* grades, int64_t n) {
  const float top = group.max(n, 0.0F, [&](int64_t i) { return grades[i]; });
  return group.sum(n, [&](int64_t i) { return grades[i] < top ? 1 : 0; }) > 0;
}

}  // namespace mr
