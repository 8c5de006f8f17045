#include "kernels/cpu/pool.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace mr::cpu {
namespace {

std::atomic<bool> interrupt_requested{false};
thread_local bool inside_task = false;

struct Job {
  Job(int64_t n, int64_t piece, void (*f)(const void*, int64_t, int64_t), const void* with)
      : count(n), grain(piece), task(f), context(with) {}

  int64_t count, grain;
  void (*task)(const void*, int64_t, int64_t);
  const void* context;
  std::atomic<int64_t> next{0};
  std::atomic<bool> stop{false};
  std::mutex error_mutex;
  std::exception_ptr error;

  void work() noexcept {
    inside_task = true;
    while (!stop.load(std::memory_order_relaxed)) {
      if (interrupt_requested.load(std::memory_order_relaxed)) stop = true;
      const int64_t first = next.fetch_add(grain);
      if (stop || first >= count) break;
      try {
        task(context, first, std::min(count, first + grain));
      } catch (...) {
        const std::lock_guard lock(error_mutex);
        if (!error) error = std::current_exception();
        stop = true;
      }
    }
    inside_task = false;
  }
};

class Pool {
 public:
  ~Pool() { resize(1); }

  int size() const { return static_cast<int>(workers_.size()) + 1; }

  void resize(int n) {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    wake_.notify_all();
    workers_.clear();
    closing_ = false;
    for (int i = 1; i < n; ++i) workers_.emplace_back([this, seen = generation_] { serve(seen); });
  }

  void run(Job& job) {
    {
      const std::lock_guard lock(mutex_);
      job_ = &job;
      ++generation_;
      busy_ = static_cast<int>(workers_.size());
    }
    wake_.notify_all();
    job.work();
    std::unique_lock lock(mutex_);
    done_.wait(lock, [this] { return busy_ == 0; });
    job_ = nullptr;
  }

 private:
  void serve(uint64_t seen) {
    for (;;) {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [&] { return closing_ || generation_ != seen; });
      if (closing_) return;
      seen = generation_;
      Job* const job = job_;
      lock.unlock();
      job->work();
      lock.lock();
      if (--busy_ == 0) done_.notify_one();
    }
  }

  std::mutex mutex_;
  std::condition_variable wake_, done_;
  Job* job_ = nullptr;
  uint64_t generation_ = 0;
  int busy_ = 0;
  bool closing_ = false;
  std::vector<std::jthread> workers_;
};

Pool& pool() {
  static Pool the_pool;
  static const bool sized = [] {
    the_pool.resize(std::max(1U, std::thread::hardware_concurrency()));
    return true;
  }();
  static_cast<void>(sized);
  return the_pool;
}

}  // namespace

void parallel(int64_t count, int64_t grain, void (*task)(const void*, int64_t, int64_t), const void* context) {
  check_interrupt();
  if (count <= 0) return;
  if (inside_task) {
    task(context, 0, count);
    return;
  }
  Job job(count, grain, task, context);
  if (count <= grain || pool().size() == 1) {
    job.work();
  } else {
    pool().run(job);
  }
  if (job.error) std::rethrow_exception(job.error);
  if (job.stop) check_interrupt();
}

int threads() { return pool().size(); }
void set_threads(int n) { pool().resize(n); }
void interrupt() noexcept { interrupt_requested = true; }
bool take_interrupt() noexcept { return interrupt_requested.exchange(false); }
void check_interrupt() {
  if (take_interrupt()) throw Interrupted();
}

}  // namespace mr::cpu
