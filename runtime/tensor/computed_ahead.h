// Tensors whose numbers other threads compute before they are read.
#pragma once

#include <utility>

#include "kernels/core/threads.h"
#include "runtime/tensor/storage.h"

namespace mr {

/// Computes the numbers of a storage while threads wait (cpu::Ahead). Whoever reads the storage first waits for the
/// rest. Errors of the task are raised there.
class ComputedAhead final : public Deferral {
 public:
  /// The task writes all bytes of the storage, except through tensors.
  template <class Task>
  static void start(const Storage& storage, int64_t count, int64_t grain, Task task) {
    storage.put_off(std::make_shared<ComputedAhead>(count, grain, std::move(task)));
  }
  template <class Task>
  ComputedAhead(int64_t count, int64_t grain, Task task) : work_(count, grain, std::move(task)) {}

  void settle() override { work_.finish(); }
  void settle_rows(const int64_t*, int64_t, int64_t) override { work_.finish(); }
  void let_go() override { work_.finish(); }

 private:
  cpu::Ahead work_;
};

}  // namespace mr
