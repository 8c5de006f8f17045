// Replaces kernels/device/grid.cuh in a build with MR_CUDA=EMULATED. The CUDA kernels are compiled as C++ and run in
// fibers on the CPU, on memory that the host cannot access. So a machine without a GPU can test that kernels get no
// host pointers, that no barrier is missing, and that results do not depend on the order of lanes and blocks, which
// changes from launch to launch.
#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <tuple>
#include <type_traits>
#include <typeinfo>

#include "tests/support/emulated_gpu/blocks.h"
#include "tests/support/emulated_gpu/driver.h"

#define __global__
#define __device__
#define __shared__ static
#define __forceinline__ inline
#define __launch_bounds__(...)

namespace mr::cuda {

constexpr int warp = 32;
constexpr unsigned all_lanes = 0xFFFFFFFFU;

inline const test::Index3 &threadIdx = test::thread_index, &blockIdx = test::block_index;
inline const test::Index3 &blockDim = test::block_size, &gridDim = test::grid_size;

/// Returns a copy of a kernel's argument after checking that it contains no pointer into host memory.
template <class T>
T received(const test::EmulatedDriver& driver, const T& given, const char* kernel) {
  T copy = given;
  if constexpr (std::is_class_v<T>) {
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&copy);  // padding bytes between the fields could look like a pointer
#endif
  }
  driver.check_pointers(&copy, sizeof copy, kernel);
  return copy;
}

template <class... Parameters>
void launch(void (*kernel)(Parameters...), int64_t blocks, int lanes, size_t shared_bytes,
            const std::type_identity_t<Parameters>&... arguments) {
  if (blocks <= 0) return;
  const char* const name = typeid(std::tuple_element_t<sizeof...(Parameters) - 1, std::tuple<Parameters...>>).name();
  Gpu& on = gpu();
  on.require_alive();
  on.note_launch(name);
  test::EmulatedDriver& driver = test::driver_of(on);
  const std::tuple<Parameters...> got{received<Parameters>(driver, arguments, name)...};
  driver.queue([=, &driver] {
    test::run_blocks(name, static_cast<unsigned>(blocks), static_cast<unsigned>(lanes), shared_bytes,
                     driver.next_launch_is_backward(), [&] { std::apply(kernel, got); });
  });
}

template <class T>
T* shared_memory() {
  return static_cast<T*>(test::shared_memory());
}

template <class Real>
Real reciprocal(Real x) {
  return 1 / x;
}

inline void __syncthreads() { test::block_barrier(); }
inline void __syncwarp(unsigned mask = all_lanes) { test::exchange(test::Exchange::barrier, mask, 0, 0); }
inline void __threadfence() {}

/// Returns the value of another lane of the warp, like CUDA's __shfl_sync.
template <class T>
T __shfl_sync(unsigned mask, T value, unsigned lane) {
  static_assert(sizeof(T) <= sizeof(uint64_t));
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  bits = test::exchange(test::Exchange::lane, mask, bits, lane);
  std::memcpy(&value, &bits, sizeof value);
  return value;
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, unsigned apart) {
  return __shfl_sync(mask, value, threadIdx.x % warp ^ apart);
}
inline unsigned __ballot_sync(unsigned mask, bool vote) {
  return static_cast<unsigned>(test::exchange(test::Exchange::any, mask, vote, 0));
}
inline int __popc(unsigned bits) { return std::popcount(bits); }

template <class T>
T atomicAdd(T* to, T value) {
  const T before = *to;
  *to = before + value;
  return before;
}

}  // namespace mr::cuda
