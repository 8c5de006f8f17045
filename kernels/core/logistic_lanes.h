// Logistic functions of vectors of doubles with their slopes, inside namespace MR_SIMD; for files that are compiled
// once per instruction set only. They take any t but NaN.
#pragma once

#include "kernels/core/exponential_lanes.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// log(1 + e^t), whose slope is sigma(t).
struct Softplus {
  Lanes<double>::Vector value, slope;
  explicit Softplus(Lanes<double>::Vector t) {
    using V = Lanes<double>::Vector;
    constexpr double odd_reciprocals[16] = {1.,      1. / 3,  1. / 5,  1. / 7,  1. / 9,  1. / 11, 1. / 13, 1. / 15,
                                            1. / 17, 1. / 19, 1. / 21, 1. / 23, 1. / 25, 1. / 27, 1. / 29};
    constexpr double beyond = 350;  // e to minus this does not change 1, and is the end of `exponential`'s range
    const V far = t < 0 ? -t : t, y = far > beyond ? V{} : exponential(far > beyond ? V{} : -far);
    // with z = y / (2 + y), at most 1/3, log(1 + y) = 2 (z + z^3/3 + z^5/5 + ...), to rounding also where y is small
    const V one = 1 + y, two = 2 + y, both = 1 / (one * two), z = y * (one * both);
    value = multiply_add(z + z, polynomial(odd_reciprocals, z * z), t > 0 ? t : V{});
    slope = (t < 0 ? y : Lanes<double>::all(1)) * (two * both);
  }
};

/// w sigma(t).
struct Sigmoid {
  Lanes<double>::Vector value, slope;
  Sigmoid(Lanes<double>::Vector t, Lanes<double>::Vector w) {
    using V = Lanes<double>::Vector;
    constexpr double beyond = 350;
    const V far = t < 0 ? -t : t, y = far > beyond ? V{} : exponential(far > beyond ? V{} : -far);
    const V more = w / (1 + y), less = more * y;  // of |t| and of -|t|
    value = t < 0 ? less : more;
    slope = less / (1 + y);
  }
};

/// tanh(t).
struct Tanh {
  Lanes<double>::Vector value, slope;
  explicit Tanh(Lanes<double>::Vector t) {
    using V = Lanes<double>::Vector;
    constexpr double beyond = 40;  // from here on tanh is 1 to the last digit, and its slope counts as 0
    const V far = t < 0 ? -t : t, y = far > beyond ? V{} : exponential(far > beyond ? V{} : -2 * far);
    const V size = (1 - y) / (1 + y);
    value = t < 0 ? -size : size;
    slope = 4 * y / ((1 + y) * (1 + y));
  }
};

}  // namespace
}  // namespace mr::cpu::MR_SIMD
