// How kernels run on the CPU: every functor over the thread pool, lists one by one, elements in pieces.
#pragma once

#include "kernels/core/group.h"
#include "kernels/cpu/pool.h"

namespace mr::cpu {

struct Backend {
  template <class Work>
  static void lists(int64_t count, const Work& work) {
    parallel(
        count, count <= 256 ? 1 : 8,
        [](const void* context, int64_t first, int64_t last) {
          const Work& f = *static_cast<const Work*>(context);
          for (int64_t list = first; list < last; ++list) f(SerialGroup{}, list);
        },
        &work);
  }

  template <class Work>
  static void elements(int64_t count, const Work& work) {
    parallel(
        count, 8192,
        [](const void* context, int64_t first, int64_t last) {
          const Work f = *static_cast<const Work*>(context);
          for (int64_t i = first; i < last; ++i) f(i);
        },
        &work);
  }
};

inline void no_overrides(const auto&) {}

}  // namespace mr::cpu
