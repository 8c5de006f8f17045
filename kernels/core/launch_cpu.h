// How kernels run on the CPU: every functor over the thread pool, lists one by one, elements in pieces.
#pragma once

#include "kernels/core/group.h"
#include "kernels/core/threads.h"

namespace mr::cpu {

struct Backend {
  template <class Work>
  static void lists(int64_t count, const Work& work) {
    parallel_each(count, count <= 256 ? 1 : 8, [&](int64_t list) { work(SerialGroup{}, list); });
  }

  template <class Work>
  static void elements(int64_t count, const Work& work) {
    parallel(count, 8192, [&](int64_t first, int64_t last) {
      const Work f = work;  // a local copy, which no output can alias
      for (int64_t i = first; i < last; ++i) f(i);
    });
  }
};

}  // namespace mr::cpu
