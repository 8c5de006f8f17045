// Loads and stores of 16 bytes at once on the GPU.
#pragma once

#include <cstdint>
#include <type_traits>

#include "kernels/core/hd.h"

namespace mr::cuda {

/// V consecutive numbers, loaded or stored in one access.
template <class Real, int V>
struct alignas(V * sizeof(Real)) Pack {
  Real at[V];
};

template <class Real, int V>
MR_HD Pack<Real, V>& pack(Real* from) {
  return *reinterpret_cast<Pack<Real, V>*>(from);
}
template <class Real, int V>
MR_HD const Pack<Real, V>& pack(const Real* from) {
  return *reinterpret_cast<const Pack<Real, V>*>(from);
}

/// Returns true if an address is a multiple of 16 bytes.
template <class Real>
bool is_aligned(const Real* data) {
  return reinterpret_cast<uintptr_t>(data) % 16 == 0;
}

/// Calls run(V), where V numbers are 16 bytes if the rows of both matrices are aligned to 16 bytes, else with V = 1.
template <class Real, class Run>
void with_pack(const Real* matrix, const Real* other, int64_t width, Run run) {
  constexpr int most = 16 / sizeof(Real);
  if (is_aligned(matrix) && is_aligned(other) && width % most == 0) {
    run(std::integral_constant<int, most>{});
  } else {
    run(std::integral_constant<int, 1>{});
  }
}

}  // namespace mr::cuda
