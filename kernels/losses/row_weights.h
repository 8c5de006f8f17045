// Weights of rows that users pass. Without weights the view is null, and every row has weight
// 1.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"
#include "kernels/core/view.h"

namespace mr {

MR_HD inline double row_weight(const Span<const double>& weights, int64_t row) {
  return weights.data == nullptr ? 1.0 : weights[row];
}

}  // namespace mr
