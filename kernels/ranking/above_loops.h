// The loop of above.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by above_*.cpp only.
#include "kernels/core/simd/lanes.h"
#include "kernels/ranking/above.h"

namespace mr::cpu::MR_SIMD {
namespace {

template <class Real>
struct Counter;
template <>
struct Counter<float> {
  typedef int32_t Vector __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
};
template <>
struct Counter<double> {
  typedef int64_t Vector __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
};

template <class Vector>
int32_t added_up(const Vector& v) {
  int64_t sum = 0;
  for (size_t lane = 0; lane < sizeof v / sizeof v[0]; ++lane) sum += v[lane];
  return static_cast<int32_t>(sum);
}

template <class Real>
void count_above(const Real* scores, int64_t n, const Real* bounds, int32_t* above, int32_t* tied) {
  using L = Lanes<Real>;
  constexpr int most = AboveLoops<Real>::bounds;
  typename Counter<Real>::Vector higher[most] = {}, equal[most] = {};
  typename L::Vector bound[most];
  for (int b = 0; b < most; ++b) bound[b] = L::all(bounds[b]);
  int64_t i = 0;
  for (; i + L::count <= n; i += L::count) {
    const auto own = L::load(scores + i);
    for (int b = 0; b < most; ++b) {
      higher[b] -= own > bound[b];
      equal[b] -= own == bound[b];
    }
  }
  for (int b = 0; b < most; ++b) {
    above[b] = added_up(higher[b]);
    tied[b] = added_up(equal[b]);
    for (int64_t j = i; j < n; ++j) {
      above[b] += scores[j] > bounds[b] ? 1 : 0;
      tied[b] += scores[j] == bounds[b] ? 1 : 0;
    }
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
AboveLoops<float> loops_of<AboveLoops<float>, Simd::MR_SIMD>() {
  return {.count = &MR_SIMD::count_above<float>};
}
template <>
AboveLoops<double> loops_of<AboveLoops<double>, Simd::MR_SIMD>() {
  return {.count = &MR_SIMD::count_above<double>};
}

}  // namespace mr::cpu
