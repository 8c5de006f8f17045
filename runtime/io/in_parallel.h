// A task per number, on the threads of the CPU kernels.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/cpu/pool.h"

namespace mr::io {

/// Calls task(i) for every i below `count`. Rethrows the first exception.
template <class Task>
void in_parallel(size_t count, const Task& task) {
  cpu::parallel(
      static_cast<int64_t>(count), 1,
      [](const void* context, int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) (*static_cast<const Task*>(context))(static_cast<size_t>(i));
      },
      &task);
}

}  // namespace mr::io
