// The best DCG that a list can have: its grades in descending order.
#pragma once

#include <limits>

#include "kernels/ranking/discount.h"
#include "runtime/tensor/lists.h"

namespace mr {

/// The largest gains that grades may have: sums of 2^23 of them are numbers in double, and sums of as many as a list
/// can have rows are in float32, for metrics that divide them by nothing.
constexpr double largest_gain = 0x1p1000, largest_gain_of_float = 0x1p96;
/// Throws where a grade of the lists has a larger gain, and names the list and the row.
void check_gains(const Lists& lists, Gain gain = Gain::exp2, double largest = largest_gain);

/// Ideal DCG of every list over its first k ranks, float64; made once per lists, k, gain and device. 0 where no grade
/// is above 0, also under a gain that grade 0 has. Throws as `check_gains`.
const Tensor& ideal_dcg(const Lists& lists, Device device, Gain gain = Gain::exp2,
                        int64_t k = std::numeric_limits<int32_t>::max());

}  // namespace mr
