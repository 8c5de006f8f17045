// A group is the set of lanes that work on one list together. Kernels access a list by the group's collective
// operations only: every lane calls them, never from inside another one's function, and no function reads what
// another lane writes in the same operation. SerialGroup is the CPU's: one lane, plain loops.
// BlockGroup (kernels/device/launch.cuh) has the same shape; tests/support/emulated_group.h imitates it without a GPU.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"

namespace mr {

struct SerialGroup {
  /// f(i) for i = 0 .. n - 1; what it wrote is visible to every lane afterwards.
  template <class F>
  MR_HD void each(int64_t n, F f) const {
    for (int64_t i = 0; i < n; ++i) f(i);
  }

  /// Sum of f(i), in double whatever the type of f, the same on every lane.
  template <class F>
  MR_HD double sum(int64_t n, F f) const {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) total += static_cast<double>(f(i));
    return total;
  }

  /// Largest of f(i), or `lowest` for an empty range.
  template <class T, class F>
  MR_HD T max(int64_t n, T lowest, F f) const {
    T best = lowest;
    for (int64_t i = 0; i < n; ++i) {
      const T value = f(i);
      if (value > best) best = value;
    }
    return best;
  }
};

}  // namespace mr
