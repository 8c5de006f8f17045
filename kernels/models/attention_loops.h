// The loops of attention_cpu.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by attention_*.cpp
// only.
#include "kernels/core/logarithms.h"
#include "kernels/core/simd/exponential_lanes.h"
#include "kernels/models/attention_cpu.h"

namespace mr::cpu::MR_SIMD {
namespace {

constexpr int64_t room = 16;

/// Pads the row to a multiple of `room` and raises entries that are below the range of the exponential function.
template <class Real>
int64_t prepared(Real* x, int64_t n, Real shift) {
  const int64_t end = (n + room - 1) / room * room;
  // smaller entries are raised to `least`: adding e^-345 does not change a sum of at least 1
  const Real least = shift - 345;
  for (int64_t j = 0; j < n; ++j) x[j] = x[j] < least ? least : x[j];
  for (int64_t j = n; j < end; ++j) x[j] = least;
  return end;
}

template <class Real>
void weights(Real* x, int64_t n, Real log_sum) {
  exponentials(x, prepared(x, n, log_sum), 1.0, static_cast<double>(log_sum));
}

template <class Real>
Real softmax(Real* x, int64_t n) {
  Real top = x[0], any = 0;
  for (int64_t j = 0; j < n; ++j) {
    top = x[j] > top ? x[j] : top;
    any += x[j] - x[j];  // x - x is NaN if the entry is not finite, and makes the sum NaN
  }
  if (any != 0) {
    fill(x, n, any);
    return any;
  }
  weights(x, n, top);
  double total = 0;
  for (int64_t j = 0; j < n; ++j) total += x[j];
  const Real share = static_cast<Real>(1 / total);
  for (int64_t j = 0; j < n; ++j) x[j] *= share;
  return top + static_cast<Real>(portable::log(total));
}

template <class Real>
void score_slopes(const Real* of, Real* slopes, int64_t n, Real shift, Real scale) {
  for (int64_t j = 0; j < n; ++j) slopes[j] = scale * of[j] * (slopes[j] - shift);
}

template <class Real>
NetworkLoops<Real> network() {
  return {.softmax = &softmax<Real>, .weights = &weights<Real>, .score_slopes = &score_slopes<Real>};
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
NetworkLoops<float> loops_of<NetworkLoops<float>, Simd::MR_SIMD>() {
  return MR_SIMD::network<float>();
}
template <>
NetworkLoops<double> loops_of<NetworkLoops<double>, Simd::MR_SIMD>() {
  return MR_SIMD::network<double>();
}

}  // namespace mr::cpu
