// Finds the list of a row, for kernels whose lanes each take rows rather than lists.
#pragma once

#include "kernels/core/view.h"

namespace mr::cuda {

MR_HD inline int64_t list_of(Ragged lists, int64_t row) {
  int64_t low = 0, high = lists.count;
  while (high - low > 1) {
    const int64_t middle = low + (high - low) / 2;
    (lists.begin(middle) <= row ? low : high) = middle;
  }
  return low;
}

}  // namespace mr::cuda
