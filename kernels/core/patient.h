// Makes sorting interruptible: wraps a comparison function so that it checks for Ctrl-C.
#pragma once

#include <cstdint>

#include "kernels/core/threads.h"

namespace mr::cpu {

/// Returns a comparison that calls `less` and checks for Ctrl-C every 2^20 calls: sorting 10^8 values takes seconds.
template <class Less>
auto patient(Less less) {
  return [less, calls = uint32_t{0}](const auto& a, const auto& b) mutable {
    if ((++calls & 0xFFFFF) == 0) check_interrupt();
    return less(a, b);
  };
}

}  // namespace mr::cpu
