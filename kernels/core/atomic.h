// Atomic integer operations for concurrent lanes or threads. The result does not depend on the order of writes.
#pragma once

#ifndef __CUDA_ARCH__
#include <atomic>
#endif
#include <cstdint>

#include "kernels/core/hd.h"

namespace mr {

/// Atomically sets *at = max(*at, value).
MR_HD inline void raise_to(int64_t* at, int64_t value) {
#ifdef __CUDA_ARCH__
  atomicMax(reinterpret_cast<long long*>(at), static_cast<long long>(value));
#else
  std::atomic_ref<int64_t> shared(*at);
  for (int64_t seen = shared.load(); seen < value && !shared.compare_exchange_weak(seen, value);) {
  }
#endif
}

}  // namespace mr
