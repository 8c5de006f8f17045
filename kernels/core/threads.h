// The threads that run CPU kernels. Each begins with a share of its own and then takes from others'; every task writes
// to its own slots, so that results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <stdexcept>

namespace mr::cpu {

/// Thrown by long work after `interrupt()`, which is what Ctrl-C calls.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// Calls task(context, first, last) over pieces of [0, count), each `grain` long but the last, on all threads; returns
/// when all are done. A piece always covers the same range, whatever the number of threads. Rethrows the first
/// exception. Throws Interrupted when `interrupt()` was called meanwhile. A call from inside a task runs serially.
void parallel(int64_t count, int64_t grain, void (*task)(const void* context, int64_t first, int64_t last),
              const void* context);
/// Like `parallel` above, with task(first, last).
template <class Task>
void parallel(int64_t count, int64_t grain, const Task& task) {
  parallel(
      count, grain,
      [](const void* context, int64_t first, int64_t last) { (*static_cast<const Task*>(context))(first, last); },
      &task);
}
/// Like `parallel`, with task(i) for every i of a piece.
template <class Task>
void parallel_each(int64_t count, int64_t grain, const Task& task) {
  parallel(count, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) task(i);
  });
}

/// How many threads share the work (default: all cores); n >= 1.
int threads();
void set_threads(int n);

/// Ctrl-C: safe to call from a signal handler. `check_interrupt` throws Interrupted if it happened, which clears the
/// flag; a task whose pieces take long calls it too, and then also ends when another task has failed.
void interrupt() noexcept;
void check_interrupt();
/// Reads and clears the flag without throwing.
bool take_interrupt() noexcept;

}  // namespace mr::cpu
