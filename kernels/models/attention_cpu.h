// Inner loops of attention: one row of weights. Compiled once per instruction set (network_*.cpp) and chosen when the
// program starts.
#pragma once

#include <cstdint>

namespace mr::cpu {

template <class Real>
struct NetworkLoops {
  /// x[j] = exp(x[j] - l) with l = log sum_j exp(x[j]), for n >= 1 entries and room up to the next multiple of 16;
  /// returns l. A row that is not finite becomes NaN.
  Real (*softmax)(Real* x, int64_t n);
  /// The same with l given.
  void (*weights)(Real* x, int64_t n, Real log_sum);
  /// slopes[j] = scale weights[j] (slopes[j] - shift).
  void (*score_slopes)(const Real* weights, Real* slopes, int64_t n, Real shift, Real scale);
};

template <class Real>
const NetworkLoops<Real>& network_loops();

/// The same on one instruction set, whether or not the processor has it.
namespace scalar {
template <class Real>
NetworkLoops<Real> network();
}
namespace avx2 {
template <class Real>
NetworkLoops<Real> network();
}
namespace avx512 {
template <class Real>
NetworkLoops<Real> network();
}

}  // namespace mr::cpu
