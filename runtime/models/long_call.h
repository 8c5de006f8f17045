// A call of a library that cannot be interrupted: it runs in a thread of its own, and Ctrl-C ends the waiting for it.
#pragma once

#include <functional>
#include <memory>

namespace mr {

class LongCall {
 public:
  /// Runs `work` and waits for it. Ctrl-C throws cpu's Interrupted while `work` goes on: it owns what it uses. What it
  /// threw is thrown here, or where it was left by the next `settle`.
  void run(std::function<void()> work);
  /// Waits for what was left; nothing else may touch what it works on before. Ctrl-C as above.
  void settle();

 private:
  struct State;
  static void complete(State& state, std::function<void()>& work);
  std::shared_ptr<State> state_;
};

}  // namespace mr
