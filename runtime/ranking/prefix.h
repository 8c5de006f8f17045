// Prefix sums of discounts over the first ranks for closed forms, cached per process and extended for longer lists.
#pragma once

#include "runtime/tensor/tensor.h"

namespace mr {

/// Returns D(0) .. D(n) or more, float64: D(n) = sum over r <= n of 1 / log2(r + 1).
Tensor discount_sums(int64_t n, Device device);
/// Returns L(0) .. L(n) or more, float64: prefix sums of the discounts of LETOR's script, which are 1 for ranks 1 and
/// 2, 1 / log2(r) from rank 3 on.
Tensor letor_discount_sums(int64_t n, Device device);
/// Returns H(0) .. H(n) or more, float64: H(n) = sum over r <= n of 1 / r.
Tensor harmonic_sums(int64_t n, Device device);

}  // namespace mr
