// Elementwise functions of one tensor on the CPU. They are compiled once per instruction set, and the program chooses
// one when it runs.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

/// Two loops over n entries: `values` computes a function, and `products` its derivative times `upstream`. Inputs and
/// outputs must not overlap.
template <class Real>
struct FunctionLoop {
  void (*values)(const Real* in, Real* out, int64_t n);
  void (*products)(const Real* in, const Real* upstream, Real* out, int64_t n);
};

template <class Real>
struct FunctionLoops {
  FunctionLoop<Real> exp, log, sigmoid, tanh, softplus;
};

}  // namespace mr::cpu
