// A library call that cannot be interrupted. It runs in its own thread, and Ctrl-C ends only the waiting.
#pragma once

#include <functional>
#include <memory>

namespace mr {

class LongCall {
 public:
  /// Runs `work` and waits for it. Ctrl-C throws cpu::Interrupted while `work` continues, so `work` must own everything
  /// that it uses. An exception from `work` is rethrown here or, after Ctrl-C, by the next `settle`.
  void run(std::function<void()> work);
  /// Waits for a library call that still runs after Ctrl-C. Call it before touching the data of that call. Another
  /// Ctrl-C throws cpu::Interrupted and leaves the call running.
  void settle();

 private:
  struct State;
  static void complete(State& state, std::function<void()>& work);
  std::shared_ptr<State> state_;
};

}  // namespace mr
