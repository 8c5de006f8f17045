// Jobs of the thread pool (threads.cpp): the pieces of a loop, which several threads take, and the gate through which
// they enter a job.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <utility>

namespace mr::cpu {

/// Returns true if Ctrl-C was pressed and no computation has noticed it yet.
bool wants_interrupt();

struct Job;
/// the job of which this thread does a piece; null outside of pieces
inline thread_local Job* inside_task = nullptr;

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
    for (int64_t k = 0; k < shares; ++k) {
      share[k].next.store(first_of_share(k, shares, w.pieces()), std::memory_order_relaxed);
      share[k].last = first_of_share(k + 1, shares, w.pieces());
    }
  }
  /// Returns the number of the first piece of share k.
  static int64_t first_of_share(int64_t k, int64_t shares, int64_t pieces) {
    return k * (pieces / shares) + std::min(k, pieces % shares);
  }

  const Work work;
  const int64_t shares;
  Share share[most_shares];
  std::atomic<bool> stop{false}, interrupted{false};
  // false while the job is done ahead: then Ctrl-C is left to the running loops
  std::atomic<bool> heeds_interrupt{true};
  std::mutex error_mutex;
  std::exception_ptr error;

  void take_part(int64_t thread) noexcept {
    Job* const outer = std::exchange(inside_task, this);
    for (int64_t k = 0; k < shares; ++k) take_from(share[(thread + k) % shares]);
    inside_task = outer;
  }

  /// Takes one piece of the first share. Returns false if none is left.
  bool take_one() noexcept {
    inside_task = this;
    const bool took = take_one_from(share[0]);
    inside_task = nullptr;
    return took;
  }

  void take_from(Share& from) noexcept {
    while (take_one_from(from)) {
    }
  }

  bool take_one_from(Share& from) noexcept {
    if (asked_to_stop() || from.next.load(std::memory_order_relaxed) >= from.last) return false;
    const int64_t piece = from.next.fetch_add(1, std::memory_order_relaxed);
    if (stop.load(std::memory_order_relaxed) || piece >= from.last) return false;
    try {
      work.run(piece);
    } catch (...) {
      const std::lock_guard lock(error_mutex);
      if (!error) error = std::current_exception();
      stop = true;
    }
    return true;
  }

  bool asked_to_stop() {
    if (heeds_interrupt.load(std::memory_order_relaxed) && wants_interrupt()) interrupted = stop = true;
    return stop.load(std::memory_order_relaxed);
  }
};

/// Waits until `value` differs from `old`. It polls before it sleeps: loops follow each other within microseconds, and
/// waking a thread takes longer.
void await_change(const std::atomic<uint32_t>& value, uint32_t old, bool spin);

/// A job that threads may enter while it is open. Whoever closes it waits only for threads that have entered, not for
/// threads that have not yet woken.
class Gate {
 public:
  void open(Job& job) {
    job_ = &job;
    inside_.store(is_open, std::memory_order_release);
  }

  /// Returns the job, or null if the gate is closed. A thread that got the job calls `leave`.
  Job* enter() {
    uint32_t now = inside_.load(std::memory_order_relaxed);
    do {
      if ((now & is_open) == 0) return nullptr;
    } while (!inside_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_relaxed));
    return job_;
  }
  void leave() {
    if (inside_.fetch_sub(1, std::memory_order_acq_rel) == 1) inside_.notify_one();
  }

  void close(bool spin) {
    uint32_t now = inside_.fetch_and(~is_open, std::memory_order_acq_rel) & ~is_open;
    while (now != 0) {
      await_change(inside_, now, spin);
      now = inside_.load(std::memory_order_acquire);
    }
  }

 private:
  static constexpr uint32_t is_open = uint32_t{1} << 31;
  // number of threads that work on the job, and the bit `is_open`, which lets more threads enter
  std::atomic<uint32_t> inside_{0};
  Job* job_ = nullptr;  // a thread may read it only after it has entered
};

}  // namespace mr::cpu
