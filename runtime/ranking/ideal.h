// The best DCG that a list can have: its grades in descending order.
#pragma once

#include <limits>

#include "kernels/ranking/discount.h"
#include "runtime/tensor/lists.h"

namespace mr {

/// Ideal DCG of every list over its first k ranks, float64; made once per lists, k, gain and device. 0 where no grade
/// is above 0, also under a gain that grade 0 has.
const Tensor& ideal_dcg(const Lists& lists, Device device, Gain gain = Gain::exp2,
                        int64_t k = std::numeric_limits<int32_t>::max());

}  // namespace mr
