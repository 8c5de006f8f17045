// Where time goes while a function of a script runs: operations and derivatives, one row per name, and the phases that
// the standard library names. Times are those of the host's clock. While tensors are on the GPU each operation is
// waited for, before and after: its time is that of its work, not of its launch.
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
  /// Sums over all spans of one name and kind. Times are in nanoseconds. `self` leaves out nested
  /// spans: for an operation the derivatives that its backward pass calls, for a phase the phases
  /// within it. `bytes`: memory that tensors took during the spans, also without nested ones.
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

  /// Keeps so many events, the first ones; sums have all.
  explicit Profiler(int64_t most_events);
  ~Profiler() { stop(); }
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  /// From here to `stop` it sees what this thread does; a profile that runs already goes on and sees it, too.
  void start();
  void stop() noexcept;

  /// True if one runs in this thread, and the end of all of them.
  static bool any() { return Timed::running != nullptr; }
  static void stop_all() noexcept;

  /// A phase of this thread's profiles, by its number; 0 where none runs, or where it is to be `outermost` and is not.
  static uint64_t begin_phase(const std::string& name, bool outermost);
  /// Ends it and what is open within it.
  static void end_phase(uint64_t number) noexcept;

  std::vector<Row> rows() const;
  const std::vector<Event>& events() const { return events_; }
  int64_t left_out() const { return left_out_; }
  /// Nanoseconds while it ran, and those in operations.
  int64_t elapsed() const { return elapsed_; }
  int64_t in_operations() const { return in_operations_; }
  /// True if it waited for the GPU.
  bool waited() const { return waited_; }

 private:
  friend class Timed;

  struct Open {
    const char* name;
    Timed::Kind kind;
    uint64_t number;  // of a phase
    Sums* sums;       // null: it does not count
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
  Stack operations_, phases_;  // open ones
  std::vector<Event> events_;
  std::unordered_map<Key, Sums, Hash> sums_;
  std::deque<std::string> names_;  // of phases
};

}  // namespace mr
