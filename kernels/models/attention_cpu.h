// Inner loops of attention within lists, compiled once per instruction set. Each call computes the attention weights of
// one row.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

template <class Real>
struct NetworkLoops {
  /// Computes the softmax in place: x[j] = exp(x[j] - l) with l = log sum_j exp(x[j]). Returns l. n >= 1; x has room up
  /// to the next multiple of 16. A row with an infinite or NaN entry becomes NaN.
  Real (*softmax)(Real* x, int64_t n);
  /// Like `softmax`, but with l passed as `log_sum`.
  void (*weights)(Real* x, int64_t n, Real log_sum);
  /// Computes the derivative of the softmax: slopes[j] = scale weights[j] (slopes[j] - shift).
  void (*score_slopes)(const Real* weights, Real* slopes, int64_t n, Real shift, Real scale);
};

template <class Real>
const NetworkLoops<Real>& network_loops() {
  return chosen_loops<NetworkLoops<Real>>();
}

}  // namespace mr::cpu
