// The thread pool that runs CPU kernels. Each thread starts with its own share of the work and then takes work from the
// shares of others. Every task writes to memory of its own, so that results do not depend on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

namespace mr::cpu {

/// Thrown by long computations after `interrupt()`, which Ctrl-C calls.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

/// `threads` returns the number of threads of the pool, by default one per core. `set_threads` changes it; n >= 1.
int threads();
void set_threads(int n);

/// Calls task(context, first, last) over pieces (ranges) of [0, count) on all threads and returns when all are done.
/// Each piece has `grain` entries, the last one maybe fewer. A piece always covers the same range, whatever the number
/// of threads. Rethrows the first exception. Throws Interrupted if `interrupt()` is called meanwhile. A call from
/// inside a task runs serially.
void parallel(int64_t count, int64_t grain, void (*task)(const void* context, int64_t first, int64_t last),
              const void* context);
/// Like `parallel` with a context, but for a function object: calls task(first, last) for each range of [0, count).
template <class Task>
void parallel(int64_t count, int64_t grain, const Task& task) {
  parallel(
      count, grain,
      [](const void* context, int64_t first, int64_t last) { (*static_cast<const Task*>(context))(first, last); },
      &task);
}
/// Calls task(i) for every i of [0, count) on all threads, and returns when all calls are done. A thread takes `grain`
/// of them at a time.
template <class Task>
void parallel_each(int64_t count, int64_t grain, const Task& task) {
  parallel(count, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) task(i);
  });
}

/// Returns the indices of `costs`, ordered so that each thread's share of a parallel loop over them begins with its
/// largest costs, and all shares have about the same sum.
std::vector<int64_t> dealt_by_cost(const std::vector<double>& costs);

/// Work that threads do ahead of time: while a thread waits for the next parallel loop, it calls task(first, last) for
/// pieces of [0, count), as in `parallel`. Several objects are worked on in the order in which they were made. With one
/// thread, `finish` does all the work. The task may not use what else changes meanwhile.
class Ahead {
 public:
  Ahead(int64_t count, int64_t grain, std::function<void(int64_t first, int64_t last)> task);
  /// Leaves out the pieces that have not begun.
  ~Ahead();
  Ahead(const Ahead&) = delete;
  Ahead& operator=(const Ahead&) = delete;

  /// Computes the pieces that have not begun, on all threads, and returns when all are done. Rethrows the first
  /// exception of a piece, and throws Interrupted after Ctrl-C; then another call computes all pieces again.
  void finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Ctrl-C handling. `interrupt` sets a flag and may be called from a signal handler. `check_interrupt` throws
/// Interrupted if the flag is set. Outside of parallel tasks it also clears the flag. Inside a parallel task, it also
/// throws if another task has failed, so tasks that run long should call it.
void interrupt() noexcept;
void check_interrupt();
/// Returns true if Ctrl-C was pressed since the last check, and clears the flag, without throwing.
bool take_interrupt() noexcept;

}  // namespace mr::cpu
