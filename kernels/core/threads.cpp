#include "kernels/core/threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <mutex>
#include <new>
#include <numeric>
#include <optional>
#include <pthread.h>
#include <sched.h>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "kernels/core/host_interrupt.h"
#include "kernels/core/thread_job.h"

namespace mr::cpu {
namespace {

/// Flags that tell running computations to check for Ctrl-C, or 0 if no check is needed. `interrupt()` sets the bit
/// `requested`. `ask_host` sets the bit `asks_host` if a host program must be asked.
std::atomic<int> attention{0};
constexpr int requested = 1, asks_host = 2;
std::atomic<bool (*)()> host{nullptr};

void relax() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

int cores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) == 0 && CPU_COUNT(&set) > 0) return CPU_COUNT(&set);
  return static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
}

/// A thread pool. The thread that started a job (a parallel loop) works, too, and closes the job when no piece is left.
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
    now_.open(job);
    calls_.fetch_add(1, std::memory_order_release);
    const int64_t helpers = job.work.pieces() - 1;
    if (helpers < static_cast<int64_t>(workers_.size())) {
      for (int64_t i = 0; i < helpers; ++i) calls_.notify_one();
    } else {
      calls_.notify_all();
    }
    job.take_part(0);
    now_.close(spin_);
  }

  /// Lets idle threads work on a job, after the jobs that were offered before.
  void offer(Job& job) {
    const std::lock_guard lock(ahead_mutex_);
    offered_.push_back(&job);
    if (offered_.size() == 1) begin_ahead();
  }
  /// Returns when no thread works ahead on the job any more.
  void withdraw(Job& job) {
    const std::lock_guard lock(ahead_mutex_);
    const auto at = std::find(offered_.begin(), offered_.end(), &job);
    if (at == offered_.end()) return;
    const bool is_open = at == offered_.begin();
    if (is_open) ahead_.close(spin_);
    offered_.erase(at);
    if (is_open && !offered_.empty()) begin_ahead();
  }

 private:
  void serve(int thread, uint32_t seen) {
    for (;;) {
      while (calls_.load(std::memory_order_acquire) == seen && work_ahead()) {
      }
      await_change(calls_, seen, spin_);
      seen = calls_.load(std::memory_order_acquire);
      if (closing_) return;
      Job* const job = now_.enter();
      if (job == nullptr) continue;
      job->take_part(thread);
      now_.leave();
    }
  }

  void begin_ahead() {
    ahead_.open(*offered_.front());
    calls_.fetch_add(1, std::memory_order_release);
    calls_.notify_all();
  }

  /// Does one piece of the job that is done ahead. Returns false if there is none.
  bool work_ahead() {
    Job* const job = ahead_.enter();
    if (job == nullptr) return false;
    const bool took = job->take_one();
    ahead_.leave();
    return took;
  }

  // counter that is incremented when a job begins and when the pool's threads must end; idle threads wait until it
  // changes
  std::atomic<uint32_t> calls_{0};
  Gate now_, ahead_;  // the running job, and the job that idle threads work on: the first of `offered_`
  std::mutex ahead_mutex_;
  std::vector<Job*> offered_;
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

/// number of forks that led to this process
std::atomic<int> forks{0};

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
  ++forks;
  new (&owner) std::mutex;  // replaces the mutex, which a thread of the parent may have locked at the fork
}

Pool& pool() { return *keeper().pool.load(std::memory_order_acquire); }

/// Returns the pool and starts its threads if they do not run. `owner` must be locked.
Pool& started_pool() {
  if (const int n = to_start.exchange(0); n > 0) pool().resize(n);
  return pool();
}

/// Throws if the job was interrupted or a piece has failed.
void check_done(const Job& job) {
  if (job.interrupted) {
    static_cast<void>(take_interrupt());
    throw Interrupted();
  }
  if (job.error) std::rethrow_exception(job.error);
}

}  // namespace

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

bool wants_interrupt() {
  const int now = attention.load(std::memory_order_relaxed);
  if (now == 0) return false;
  if ((now & requested) != 0) return true;
  bool (*const ask)() = host;
  return ask != nullptr && ask();
}

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
  check_done(job);
}

std::vector<int64_t> dealt_by_cost(const std::vector<double>& costs) {
  const auto count = static_cast<int64_t>(costs.size());
  std::vector<int64_t> descending(costs.size()), dealt(costs.size());
  std::iota(descending.begin(), descending.end(), int64_t{0});
  std::stable_sort(descending.begin(), descending.end(), [&](int64_t a, int64_t b) { return costs[a] > costs[b]; });
  const int64_t shares = std::clamp<int64_t>(threads(), 1, Job::most_shares);
  for (int64_t rank = 0; rank < count; ++rank) {
    dealt[Job::first_of_share(rank % shares, shares, count) + rank / shares] = descending[rank];
  }
  return dealt;
}

struct Ahead::State {
  State(int64_t n, int64_t each, std::function<void(int64_t, int64_t)> f) : task(std::move(f)), count(n), grain(each) {
    restart();
  }

  /// Forgets which pieces are done.
  void restart() {
    const auto call = [](const void* context, int64_t first, int64_t last) {
      static_cast<const State*>(context)->task(first, last);
    };
    job.emplace(Work{count, grain, call, this}, 1);
  }

  std::function<void(int64_t, int64_t)> task;
  int64_t count, grain;
  // A forked child lacks the threads that have begun pieces, so it computes all pieces again.
  int forks_before = forks;
  bool is_done = false;
  std::optional<Job> job;
};

Ahead::Ahead(int64_t count, int64_t grain, std::function<void(int64_t, int64_t)> task)
    : state_(std::make_unique<State>(count, grain, std::move(task))) {
  state_->job->heeds_interrupt = false;
  if (count > 0) pool().offer(*state_->job);
}

Ahead::~Ahead() {
  if (state_->is_done || state_->forks_before != forks) return;
  state_->job->stop = true;
  pool().withdraw(*state_->job);
}

void Ahead::finish() {
  State& my = *state_;
  if (my.is_done) return;
  if (std::exchange(my.forks_before, forks) != forks) my.restart();
  Job& job = *my.job;
  job.heeds_interrupt = true;
  {
    std::unique_lock lock(owner, std::defer_lock);
    if (inside_task == nullptr && lock.try_lock() && pool().size() > 1) {
      pool().run(job);
    } else {
      job.take_part(0);
    }
  }
  pool().withdraw(job);
  try {
    check_done(job);
  } catch (...) {
    my.restart();
    throw;
  }
  my.is_done = true;
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
