// In a build with MR_CUDA=EMULATED this file is found before kernels/cuda/launch.cuh: the same kernels, lane after lane
// on the CPU, on memory that the host cannot touch. It shows what a machine without a GPU can show: that every
// operation has its kernel, that no host pointer reaches one, and that lanes do not depend on each other's order.
#pragma once

#include <typeinfo>

#include "tests/support/emulated_gpu/memory.h"
#include "tests/support/emulated_group.h"

namespace mr::cuda {

struct Backend {
  template <class Work>
  static void lists(int64_t count, const Work& given) {
    if (count <= 0) return;
    const Work work = received(given);
    const test::DeviceAccess access;
    const bool backward = test::next_launch_is_backward();
    for (int64_t l = 0; l < count; ++l) {
      work(test::EmulatedGroup<128>(backward ? test::Order::backward : test::Order::forward),
           backward ? count - 1 - l : l);
    }
  }

  template <class Work>
  static void elements(int64_t count, const Work& given) {
    if (count <= 0) return;
    const Work work = received(given);
    const test::DeviceAccess access;
    const bool backward = test::next_launch_is_backward();
    for (int64_t i = 0; i < count; ++i) work(backward ? count - 1 - i : i);
  }

 private:
  template <class Work>
  static Work received(const Work& given) {
    Work work = given;
#if __has_builtin(__builtin_clear_padding)
    __builtin_clear_padding(&work);  // what lies between the fields may look like a pointer
#endif
    test::check_pointers(&work, sizeof work, typeid(Work).name());
    return work;
  }
};

}  // namespace mr::cuda
