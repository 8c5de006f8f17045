#include "runtime/models/long_call.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <thread>
#include <unistd.h>

#include "kernels/core/threads.h"

namespace mr {
namespace {

std::atomic<int> running = 0;

/// Runs at program exit. If a thread still runs a library call, ends the process at once, without the destructors that
/// would destroy the objects that the call uses.
void leave(int status, void*) {
  if (running == 0) return;
  std::fflush(nullptr);
  _exit(status);
}

void leave_at_exit() {
  static const int registered = on_exit(&leave, nullptr);
  static_cast<void>(registered);
}

}  // namespace

struct LongCall::State {
  std::mutex mutex;
  std::condition_variable ended;
  bool done = false;
  std::exception_ptr error;
};

void LongCall::complete(State& state, std::function<void()>& work) {
  std::exception_ptr error;
  try {
    work();
  } catch (...) {
    error = std::current_exception();
  }
  work = nullptr;  // frees what `work` owns before the waiting thread continues
  {
    const std::lock_guard<std::mutex> lock(state.mutex);
    state.done = true;
    state.error = error;
  }
  --running;
  state.ended.notify_all();
}

void LongCall::run(std::function<void()> work) {
  settle();
  const auto state = std::make_shared<State>();
  // counts the call before its thread starts: if Ctrl-C ends the wait and the program exits before the thread has
  // begun, `leave` must know of the call
  ++running;
  try {
    std::thread([state, work = std::move(work)]() mutable { complete(*state, work); }).detach();
  } catch (...) {
    --running;
    throw;
  }
  state_ = state;
  settle();
}

void LongCall::settle() {
  if (!state_) return;
  const auto state = state_;
  std::unique_lock<std::mutex> lock(state->mutex);
  while (!state->ended.wait_for(lock, std::chrono::milliseconds(50), [&] { return state->done; })) {
    try {
      cpu::check_interrupt();
    } catch (...) {
      leave_at_exit();
      throw;
    }
  }
  state_.reset();
  if (state->error) std::rethrow_exception(state->error);
}

}  // namespace mr
