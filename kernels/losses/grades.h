// Tests whether a list has different grades. If all its grades are equal, every ranking is equally good.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"

namespace mr {

/// True if a list has different grades. Otherwise every ranking is equally good.
template <class Group>
MR_HD bool grades_differ(const Group& group, const float* grades, int64_t n) {
  const float top = group.max(n, 0.0F, [&](int64_t i) { return grades[i]; });
  return group.sum(n, [&](int64_t i) { return grades[i] < top ? 1 : 0; }) > 0;
}

}  // namespace mr
