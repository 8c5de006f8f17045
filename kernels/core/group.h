// A group is the set of lanes that work on one list together. Kernels access a list through the group's collective
// operations only, such as a loop or a sum over rows. Every lane must call each operation. A function that is passed
// to an operation must not call another operation, and must not read what another lane writes during the operation.
// SerialGroup is the CPU's group: one lane, plain loops. BlockGroup (kernels/device/launch.cuh) has the same
// interface; tests/support/emulated_group.h emulates it without a GPU.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"

namespace mr {

struct SerialGroup {
  /// Calls f(i) for i = 0 .. n - 1. Every lane sees all writes afterwards.
  template <class F>
  MR_HD void each(int64_t n, F f) const {
    for (int64_t i = 0; i < n; ++i) f(i);
  }

  /// Returns the sum of f(0) .. f(n - 1) in double, whatever type f returns. Every lane gets the same value.
  template <class F>
  MR_HD double sum(int64_t n, F f) const {
    double total = 0;
    for (int64_t i = 0; i < n; ++i) total += static_cast<double>(f(i));
    return total;
  }

  /// Returns the largest of f(0) .. f(n - 1), or `lowest` if n is 0.
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
