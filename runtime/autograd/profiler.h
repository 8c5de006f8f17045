// Measures the time of operations and derivatives, by name, and of the phases that the standard library names, while a
// Lua function runs. Times are wall-clock times of the host. While tensors are on the GPU, the profiler waits before
// and after each operation, so the time of an operation includes its work, not only its launch.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>
#include <vector>

#include "runtime/autograd/timed.h"

namespace mr {

class Profiler {
 public:
  /// Sums over all spans (timed intervals) of one name and kind, in nanoseconds. `self` excludes nested spans: for an
  /// operation, the derivatives that its backward pass calls; for a phase, the phases within it. `bytes` is the memory
  /// that tensors allocated during the spans, except in nested ones.
  struct Sums {
    int64_t calls = 0, self = 0, total = 0, bytes = 0;
  };
  struct Row {
    std::string name;
    Timed::Kind kind;
    Sums sums;
  };
  struct Event {
    const char* name;
    Timed::Kind kind;
    int64_t begin, duration, bytes;
  };

  /// Creates a profiler that keeps only the first `most_events` events (timed operations, derivatives and phases). Its
  /// sums include all events.
  explicit Profiler(int64_t most_events);
  ~Profiler() { stop(); }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// Starts to profile this thread, until `stop` is called. A profiler that already runs in the thread continues and
  /// records the same operations.
  void start();
  void stop() noexcept;

  /// `any` returns true if a profile runs in this thread. `stop_all` ends all profiles of this thread.
  static bool any() { return Timed::running != nullptr; }
  static void stop_all() noexcept;

  /// Begins a phase (a named part of the run) in all profiles of this thread and returns its number. Does nothing and
  /// returns 0 if no profile runs, or if `outermost` is true and another phase is open.
  static uint64_t begin_phase(const std::string& name, bool outermost);
  /// Ends the phase with this number, and all phases within it that have not ended.
  static void end_phase(uint64_t number) noexcept;

  std::vector<Row> rows() const;
  const std::vector<Event>& events() const { return events_; }
  int64_t left_out() const { return left_out_; }
  /// `elapsed` returns for how many nanoseconds the profile ran, and `in_operations` how many of them were spent in
  /// operations.
  int64_t elapsed() const { return elapsed_; }
  int64_t in_operations() const { return in_operations_; }
  /// Returns true if the profiler waited for the GPU at least once, so that times include the GPU's work.
  bool waited() const { return waited_; }

 private:
  friend class Timed;

  struct Open {
    const char* name;
    Timed::Kind kind;
    uint64_t number;  // number of the phase; 0 for an operation
    Sums* sums;       // sums to which the time of this operation or phase is added; null if it is not counted
    int64_t begin, bytes, nested, nested_bytes;
  };
  using Stack = std::vector<Open>;
  struct Key {
    const char* name;
    Timed::Kind kind;
    bool operator==(const Key&) const = default;
  };
  struct Hash {
    size_t operator()(const Key& key) const {
      return std::hash<const void*>()(key.name) + static_cast<size_t>(key.kind);
    }
  };

  void open(const char* name, Timed::Kind kind, uint64_t number, int64_t now);
  void close_last(Stack& stack, int64_t now) noexcept;
  const char* kept_name(const std::string& name);
  static int64_t now_synchronized();

  Profiler* outer_ = nullptr;
  bool runs_ = false, waited_ = false;
  int64_t begin_ = 0, elapsed_ = 0, in_operations_ = 0, left_out_ = 0;
  size_t most_events_;
  Stack operations_, phases_;  // operations and phases that have begun and not ended, the innermost last
  std::vector<Event> events_;
  std::unordered_map<Key, Sums, Hash> sums_;
  std::deque<std::string> names_;  // owns the text of each phase's name, to which `name` pointers refer
};

}  // namespace mr
