// The ideal DCG of a list: the DCG of its rows in descending order of grades.
#pragma once

#include <limits>

#include "kernels/ranking/discount.h"
#include "runtime/tensor/lists.h"

namespace mr {

/// The largest gains that grades may have, so that sums do not overflow: sums of 2^23 gains in double, and sums over
/// the longest possible list in float32, for metrics without a norm.
constexpr double largest_gain = 0x1p1000, largest_gain_of_float = 0x1p96;
/// Throws if the gain of one of the lists' grades is larger than `largest`. The message names list and row.
void check_gains(const Lists& lists, Gain gain = Gain::exp2, double largest = largest_gain);

/// Returns the ideal DCG of every list over its first k ranks, float64, cached per lists, k, gain and device. It is 0
/// if no grade is above 0, even if grade 0 has a gain. Throws as `check_gains`.
const Tensor& ideal_dcg(const Lists& lists, Device device, Gain gain = Gain::exp2,
                        int64_t k = std::numeric_limits<int32_t>::max());

}  // namespace mr
