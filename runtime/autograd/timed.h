// A Timed object reports the begin and end of one operation, or of its derivative, to the profiler (profiler.h).
#pragma once

namespace mr {

class Profiler;

/// Times one operation. If no profile runs in this thread, a Timed costs a store and two comparisons.
class Timed {
 public:
  enum Kind { forward, backward, phase };

  /// `name` must live as long as the program.
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

  /// the profile that this thread started last
  static inline constinit thread_local Profiler* running = nullptr;

  Profiler* profiler_ = nullptr;
};

}  // namespace mr
