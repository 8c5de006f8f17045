// Functions of single entries on the CPU, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

/// Loops that compute a function of n entries, and its derivatives times `upstream`. Inputs and outputs must not
/// overlap.
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
