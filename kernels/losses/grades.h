// Tests whether a list has different grades. If all its grades are equal, every ranking is equally good.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"
#include "kernels/core/view.h"

namespace mr {

/// True if a list has different grades. Otherwise every ranking is equally good.
template <class Group>
MR_HD bool grades_differ(const Group& group, const float* grades, int64_t n) {
  const float top = group.max(n, 0.0F, [&](int64_t i) { return grades[i]; });
  return group.sum(n, [&](int64_t i) { return grades[i] < top ? 1 : 0; }) > 0;
}

/// Writes the value and the derivatives of a list with equal grades, which are 0. `at`: the list's first row.
template <class Group, class Real>
MR_HD void write_zeros(const Group& group, int64_t list, int64_t at, int64_t n, Span<Real> value,
                       Span<Real> derivative) {
  if (derivative.data != nullptr) group.each(n, [&](int64_t i) { derivative[at + i] = 0; });
  group.each(1, [&](int64_t) { value[list] = 0; });
}

}  // namespace mr
