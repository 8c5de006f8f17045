// Logistic functions of vectors of doubles and their slopes, in namespace MR_SIMD. Only files that are compiled once
// per instruction set include it. Arguments may be any number except NaN.
#pragma once

#include "kernels/core/simd/exponential_lanes.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// Computes log(1 + e^t), its slope sigma(t), and sigma(|t|).
struct Softplus {
  using V = Lanes<double>::Vector;
  V value, slope, sigma_of_size;
  explicit Softplus(V t) : Softplus(t, exponential_of_minus_size(t)) {}
  /// Takes y = e^-|t| from the caller.
  Softplus(V t, V y) {
    constexpr double odd_reciprocals[16] = {1.,      1. / 3,  1. / 5,  1. / 7,  1. / 9,  1. / 11, 1. / 13, 1. / 15,
                                            1. / 17, 1. / 19, 1. / 21, 1. / 23, 1. / 25, 1. / 27, 1. / 29};
    // with z = y / (2 + y) <= 1/3: log(1 + y) = 2 (z + z^3/3 + z^5/5 + ...), which is exact to rounding also for small
    // y
    const V one = 1 + y, two = 2 + y, both = 1 / (one * two), z = y * (one * both);
    value = multiply_add(z + z, polynomial(odd_reciprocals, z * z), t > 0 ? t : V{});
    sigma_of_size = two * both;
    slope = (t < 0 ? y : Lanes<double>::all(1)) * sigma_of_size;
  }

 private:
  static V exponential_of_minus_size(V t) {
    constexpr double beyond = 350;  // 1 + e^-350 rounds to 1, and `exponential` takes no arguments beyond 350
    const V far = t < 0 ? -t : t;
    return far > beyond ? V{} : exponential(far > beyond ? V{} : -far);
  }
};

/// w sigma(t).
struct Sigmoid {
  Lanes<double>::Vector value, slope;
  Sigmoid(Lanes<double>::Vector t, Lanes<double>::Vector w) {
    using V = Lanes<double>::Vector;
    constexpr double beyond = 350;
    const V far = t < 0 ? -t : t, y = far > beyond ? V{} : exponential(far > beyond ? V{} : -far);
    const V more = w / (1 + y), less = more * y;  // more = w sigma(|t|), less = w sigma(-|t|), for weights w
    value = t < 0 ? less : more;
    slope = less / (1 + y);
  }
};

/// tanh(t).
struct Tanh {
  Lanes<double>::Vector value, slope;
  explicit Tanh(Lanes<double>::Vector t) {
    using V = Lanes<double>::Vector;
    constexpr double beyond = 40;  // for |t| > 40, tanh(t) rounds to 1 or -1 and its slope counts as 0
    const V far = t < 0 ? -t : t, y = far > beyond ? V{} : exponential(far > beyond ? V{} : -2 * far);
    const V size = (1 - y) / (1 + y);
    value = t < 0 ? -size : size;
    slope = 4 * y / ((1 + y) * (1 + y));
  }
};

}  // namespace
}  // namespace mr::cpu::MR_SIMD
