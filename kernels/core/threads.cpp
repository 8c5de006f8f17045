#include "kernels/core/threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <new>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>
#include <vector>

#include "kernels/core/host_interrupt.h"

namespace mr::cpu {
namespace {

/// Flags that tell running computations to check for Ctrl-C, or 0 if no check is needed. `interrupt()` sets the bit
/// `requested`. `ask_host` sets the bit `asks_host` if a host program must be asked.
std::atomic<int> attention{0};
constexpr int requested = 1, asks_host = 2;
std::atomic<bool (*)()> host{nullptr};

bool wants_interrupt() {
  const int now = attention.load(std::memory_order_relaxed);
  if (now == 0) return false;
  if ((now & requested) != 0) return true;
  bool (*const ask)() = host;
  return ask != nullptr && ask();
}

struct Job;
thread_local Job* inside_task = nullptr;

/// A parallel loop, which calls task(context, first, last) for pieces (ranges) of 0 .. count - 1.
struct Work {
  int64_t count, grain;
  void (*task)(const void*, int64_t, int64_t);
  const void* context;

  int64_t pieces() const { return count / grain + (count % grain != 0 ? 1 : 0); }
  void run(int64_t piece) const {
    const int64_t first = piece * grain;
    task(context, first, first + std::min(grain, count - first));
  }
};

/// A running parallel loop. Each thread starts with its own share, which is the same for equal loops, so that its cache
/// still holds the data. Then it steals pieces from other threads' shares.
struct Job {
  static constexpr int64_t most_shares = 32;
  struct alignas(64) Share {
    // number of the next piece (range of entries) of this thread's share. Pieces are counted rather than entries,
    // because there may be nearly 2^63 entries, and the number of the next entry could overflow.
    std::atomic<int64_t> next{0};
    int64_t last = 0;
  };

  Job(const Work& w, int64_t threads) : work(w), shares(std::clamp<int64_t>(threads, 1, most_shares)) {
    const int64_t pieces = w.pieces(), each = pieces / shares, more = pieces % shares;
    for (int64_t k = 0; k < shares; ++k) {
      share[k].next.store(k * each + std::min(k, more), std::memory_order_relaxed);
      share[k].last = (k + 1) * each + std::min(k + 1, more);
    }
  }

  const Work work;
  const int64_t shares;
  Share share[most_shares];
  std::atomic<bool> stop{false}, interrupted{false};
  std::mutex error_mutex;
  std::exception_ptr error;

  void take_part(int64_t thread) noexcept {
    inside_task = this;
    for (int64_t k = 0; k < shares; ++k) take_from(share[(thread + k) % shares]);
    inside_task = nullptr;
  }

  void take_from(Share& from) noexcept {
    while (!asked_to_stop() && from.next.load(std::memory_order_relaxed) < from.last) {
      const int64_t piece = from.next.fetch_add(1, std::memory_order_relaxed);
      if (stop.load(std::memory_order_relaxed) || piece >= from.last) break;
      try {
        work.run(piece);
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
        stop = true;
      }
    }
  }

  bool asked_to_stop() {
    if (wants_interrupt()) interrupted = stop = true;
    return stop.load(std::memory_order_relaxed);
  }
};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// Waits until `value` differs from `old`. It polls before it sleeps: loops follow each other within microseconds, and
/// waking a thread takes longer.
void await_change(const std::atomic<uint32_t>& value, uint32_t old, bool spin) {
  using namespace std::chrono_literals;
  if (spin) {
    const auto end = std::chrono::steady_clock::now() + 50us;
    do {
      for (int i = 0; i < 32; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        relax();
      }
    } while (std::chrono::steady_clock::now() < end);
  }
  value.wait(old, std::memory_order_acquire);
}

int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// A thread pool. Threads may enter a job (a parallel loop) while it is open. The thread that started the job works
/// too, closes the job when no piece is left, and waits only for threads that have entered, not for threads that have
/// not yet woken.
class Pool {
 public:
  explicit Pool(int n) { resize(n); }
  ~Pool() { resize(1); }

  int size() const { return size_.load(std::memory_order_relaxed); }

  void resize(int n) {
    closing_ = true;
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
    workers_.clear();
    closing_ = false;
    spin_ = n <= cores();
    try {
      for (int i = 1; i < n; ++i) workers_.emplace_back([this, i, seen = calls_.load()] { serve(i, seen); });
    } catch (const std::exception&) {
      // The system refused another thread, or memory for one: the pool continues with the threads that it has.
    }
    size_ = static_cast<int>(workers_.size()) + 1;
  }

  void run(Job& job) {
    job_ = &job;
    inside_.store(open, std::memory_order_release);
    calls_.fetch_add(1, std::memory_order_release);
    const int64_t helpers = job.work.pieces() - 1;
    if (helpers < static_cast<int64_t>(workers_.size())) {
      for (int64_t i = 0; i < helpers; ++i) calls_.notify_one();
    } else {
      calls_.notify_all();
    }
    job.take_part(0);
    uint32_t now = inside_.fetch_and(~open, std::memory_order_acq_rel) & ~open;
    while (now != 0) {
      await_change(inside_, now, spin_);
      now = inside_.load(std::memory_order_acquire);
    }
  }

 private:
  static constexpr uint32_t open = uint32_t{1} << 31;

  void serve(int thread, uint32_t seen) {
    for (;;) {
      await_change(calls_, seen, spin_);
      seen = calls_.load(std::memory_order_acquire);
      if (closing_) return;
      if (!enter()) continue;
      job_->take_part(thread);
      if (inside_.fetch_sub(1, std::memory_order_acq_rel) == 1) inside_.notify_one();
    }
  }

  bool enter() {
    uint32_t now = inside_.load(std::memory_order_relaxed);
    do {
      if ((now & open) == 0) return false;
    } while (!inside_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_relaxed));
    return true;
  }

  // counter that is incremented when a job begins and when the pool's threads must end; idle threads wait until it
  // changes
  std::atomic<uint32_t> calls_{0};
  // number of threads that work on the job, and the bit `open`, which lets more threads enter
  std::atomic<uint32_t> inside_{0};
  Job* job_ = nullptr;  // the running job; a thread may read it only after it has entered the job
  std::atomic<bool> closing_{false};
  std::atomic<int> size_{1};
  // true if waiting threads poll; false if there are more threads than cores, because polling takes time from working
  // threads
  bool spin_ = false;
  std::vector<std::jthread> workers_;
};

/// Only one thread at a time may use the pool. It is also locked while the pool is resized.
std::mutex owner;

/// number of threads that the pool of a forked child has yet to start, which it does at first use; 0 if its threads
/// run
std::atomic<int> to_start{0};

/// Keeps the pool of this process. A forked child has none of its parent's threads, so it gets a new pool. The memory
/// of the old one stays, because its threads cannot be joined.
struct Keeper {
  std::atomic<Pool*> pool{new Pool(cores())};
  Keeper() { pthread_atfork(nullptr, nullptr, &in_child); }
  ~Keeper() { delete pool.load(); }
  static void in_child();
};

Keeper& keeper() {
  static Keeper the_keeper;
  return the_keeper;
}

void Keeper::in_child() {
  if (to_start == 0) to_start = keeper().pool.load()->size();
  keeper().pool = new Pool(1);
  new (&owner) std::mutex;  // replaces the mutex, which a thread of the parent may have locked at the fork
}

Pool& pool() { return *keeper().pool.load(std::memory_order_acquire); }

/// Returns the pool and starts its threads if they do not run. `owner` must be locked.
Pool& started_pool() {
  if (const int n = to_start.exchange(0); n > 0) pool().resize(n);
  return pool();
}

}  // namespace

void parallel(int64_t count, int64_t grain, void (*task)(const void*, int64_t, int64_t), const void* context) {
  check_interrupt();
  if (count <= 0) return;
  const Work work{count, grain, task, context};
  if (inside_task != nullptr) {
    const int64_t pieces = work.pieces();
    for (int64_t piece = 0; piece < pieces; ++piece) {
      check_interrupt();
      work.run(piece);
    }
    return;
  }
  std::unique_lock lock(owner, std::defer_lock);
  const bool shared = count > grain && lock.try_lock() && started_pool().size() > 1;
  Job job(work, shared ? pool().size() : 1);
  if (shared) {
    pool().run(job);
  } else {
    job.take_part(0);
  }
  if (job.interrupted) {
    static_cast<void>(take_interrupt());
    throw Interrupted();
  }
  if (job.error) std::rethrow_exception(job.error);
}

int threads() {
  const int later = to_start;
  return later > 0 ? later : pool().size();
}

void set_threads(int n) {
  if (n < 1) throw std::invalid_argument("threads: got " + std::to_string(n) + ", expected 1 or more");
  if (inside_task != nullptr) throw std::logic_error("cannot change the number of threads while a parallel loop runs");
  const std::lock_guard lock(owner);
  to_start = 0;
  pool().resize(n);
}

void interrupt() noexcept { attention.fetch_or(requested); }
bool take_interrupt() noexcept { return (attention.fetch_and(~requested) & requested) != 0; }
void ask_host(bool (*ask)()) noexcept {
  host = ask;
  if (ask != nullptr) {
    attention.fetch_or(asks_host);
  } else {
    attention.fetch_and(~asks_host);
  }
}
void check_interrupt() {
  // Inside a parallel task the flag for Ctrl-C stays set, because all threads must notice it; `parallel` clears it
  // after the last thread ended. Outside of a task, this function clears the flag. If Ctrl-C was not pressed, the
  // check is one atomic load, so that inner loops may call it.
  if (inside_task != nullptr ? !inside_task->asked_to_stop() : !wants_interrupt()) return;
  if (inside_task == nullptr) static_cast<void>(take_interrupt());
  throw Interrupted();
}

}  // namespace mr::cpu
