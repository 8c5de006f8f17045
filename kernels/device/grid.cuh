// How every kernel is launched, and where its dynamic shared memory is. Builds without nvcc use
// tests/support/emulated_gpu/kernels/device/grid.cuh instead, where lanes are fibers on the CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <typeinfo>

#include "kernels/device/cuda_try.h"

namespace mr::cuda {

constexpr int warp = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFU;

/// Runs kernel(arguments...) in every lane of `blocks` blocks of `lanes`, each with the given bytes of dynamic shared
/// memory. Errors that are found later name the kernel by the type of its last argument.
template <class... Parameters>
void launch(void (*kernel)(Parameters...), int64_t blocks, int lanes, size_t shared_bytes,
            const std::type_identity_t<Parameters>&... arguments) {
  if (blocks <= 0) return;
  static_assert((sizeof(Parameters) + ...) <= 4000, "what a kernel is given must fit into its parameters");
  Gpu& on = gpu();
  on.require_alive();
  on.note_launch(typeid(std::tuple_element_t<sizeof...(Parameters) - 1, std::tuple<Parameters...>>).name());
  kernel<<<static_cast<unsigned>(blocks), static_cast<unsigned>(lanes), shared_bytes, stream(on)>>>(arguments...);
  CUDA_TRY(on, cudaGetLastError());
}

template <class T>
__device__ T* shared_memory() {
  extern __shared__ __align__(16) unsigned char dynamic_shared[];
  return reinterpret_cast<T*>(dynamic_shared);
}

/// Approximates 1 / x to about the last digit, for x whose reciprocal is a normal number.
__device__ inline float reciprocal(float x) {
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
__device__ inline double reciprocal(double x) {
  double y;
  asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
  y = fma(y, fma(-x, y, 1.0), y);  // each Newton step doubles the number of correct bits: about 20, then 40, then all
  return fma(y, fma(-x, y, 1.0), y);
}

}  // namespace mr::cuda
