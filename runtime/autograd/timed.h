// A Timed object reports the begin and end of one operation, or of its derivative, to the profiler (profiler.h).
#pragma once

namespace mr {

class Profiler;

/// Times one operation, from its constructor to its destructor. If no profile runs in this thread, it costs only a
/// store and two comparisons.
class Timed {
 public:
  enum Kind { forward, backward, phase };

  /// `name` must stay valid as long as the program runs, because profiles keep the pointer.
  Timed(const char* name, Kind kind) {
    if (running != nullptr) [[unlikely]]
      begin(name, kind);
  }
  ~Timed() {
    if (profiler_ != nullptr) [[unlikely]]
      end();
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;

 private:
  friend class Profiler;

  void begin(const char* name, Kind kind);
  void end() noexcept;

  /// the profiler that was started last in this thread and still runs, or null
  static inline constinit thread_local Profiler* running = nullptr;

  Profiler* profiler_ = nullptr;
};

}  // namespace mr
