// Lua functions of the profiler. mr.profile starts a profile, and the standard library marks named phases in it, such
// as "forward". A trace file has Chrome's Trace Event Format ("Trace Event Format", Google, 2016): complete events, in
// microseconds.
#include <cstdio>
#include <memory>

#include <nlohmann/json.hpp>

#include "runtime/autograd/profiler.h"
#include "runtime/io/files/new_file.h"
#include "runtime/lua/bind.h"

namespace mr {
namespace {

using SharedProfiler = std::shared_ptr<Profiler>;

/// A profile that runs until this object is destroyed.
class RunningProfile {
 public:
  explicit RunningProfile(SharedProfiler profiler) : profiler_(std::move(profiler)) { profiler_->start(); }
  RunningProfile(RunningProfile&&) noexcept = default;
  RunningProfile& operator=(RunningProfile&&) = delete;
  ~RunningProfile() {
    if (profiler_ != nullptr) profiler_->stop();
  }

 private:
  SharedProfiler profiler_;
};

/// A phase that lasts until this object is destroyed.
class Phase {
 public:
  explicit Phase(uint64_t number) : number_(number) {}
  Phase(Phase&& other) noexcept : number_(std::exchange(other.number_, 0)) {}
  Phase& operator=(Phase&&) = delete;
  ~Phase() { Profiler::end_phase(number_); }

 private:
  uint64_t number_;
};

struct ProfileRow {
  std::string name, kind;
  int64_t calls = 0;
  double self = 0, total = 0;
  int64_t bytes = 0;
  static constexpr auto fields =
      lua::fields("name", &ProfileRow::name, "kind", &ProfileRow::kind, "calls", &ProfileRow::calls, "self",
                  &ProfileRow::self, "total", &ProfileRow::total, "bytes", &ProfileRow::bytes);
};

struct ProfileAccount {
  std::vector<ProfileRow> rows;
  double elapsed = 0, in_operations = 0;
  bool waited = false;
  int64_t events = 0, left_out = 0;
  static constexpr auto fields =
      lua::fields("rows", &ProfileAccount::rows, "elapsed", &ProfileAccount::elapsed, "in_operations",
                  &ProfileAccount::in_operations, "waited", &ProfileAccount::waited, "events", &ProfileAccount::events,
                  "left_out", &ProfileAccount::left_out);
};

constexpr const char* kind_names[] = {"forward", "backward", "phase"};
constexpr double seconds = 1e-9;

SharedProfiler profiler_of(int64_t most_events) {
  if (most_events < 0 || most_events > 10'000'000)
    throw ArgumentError("most_events", std::to_string(most_events) + ", expected 0 to 10000000");
  return std::make_shared<Profiler>(most_events);
}

RunningProfile start_of(const SharedProfiler& profiler) { return RunningProfile(profiler); }
bool profiling_of() { return Profiler::any(); }
void stop_profiles_of() { Profiler::stop_all(); }
Phase phase_of(const std::string& name, std::optional<bool> outermost) {
  return Phase(Profiler::begin_phase(name, outermost.value_or(false)));
}

ProfileAccount account_of(const SharedProfiler& profiler) {
  ProfileAccount account{.rows = {},
                         .elapsed = static_cast<double>(profiler->elapsed()) * seconds,
                         .in_operations = static_cast<double>(profiler->in_operations()) * seconds,
                         .waited = profiler->waited(),
                         .events = static_cast<int64_t>(profiler->events().size()),
                         .left_out = profiler->left_out()};
  for (const Profiler::Row& row : profiler->rows()) {
    account.rows.push_back({.name = row.name,
                            .kind = kind_names[row.kind],
                            .calls = row.sums.calls,
                            .self = static_cast<double>(row.sums.self) * seconds,
                            .total = static_cast<double>(row.sums.total) * seconds,
                            .bytes = row.sums.bytes});
  }
  return account;
}

std::string event_text(const Profiler::Event& event, int64_t zero) {
  char numbers[160];
  std::snprintf(numbers, sizeof numbers,
                R"(,"cat":"%s","ph":"X","pid":1,"tid":1,"ts":%.3f,"dur":%.3f,"args":{"bytes":%lld}})",
                kind_names[event.kind], static_cast<double>(event.begin - zero) / 1000,
                static_cast<double>(event.duration) / 1000, static_cast<long long>(event.bytes));
  const std::string suffix = event.kind == Timed::backward ? " backward" : "";
  return R"({"name":)" +
         nlohmann::json(event.name + suffix).dump(-1, ' ', true, nlohmann::json::error_handler_t::replace) + numbers;
}

void save_trace_of(const SharedProfiler& profiler, const std::string& path) {
  constexpr size_t piece = 1 << 16;
  io::NewFile file(path, &io::replace_any);
  int64_t zero = INT64_MAX;
  for (const Profiler::Event& event : profiler->events()) zero = std::min(zero, event.begin);
  std::string text = R"({"displayTimeUnit":"ms","otherData":{"left_out":)" + std::to_string(profiler->left_out()) +
                     R"(},"traceEvents":[{"name":"process_name","ph":"M","pid":1,"args":{"name":"moonrank"}})";
  for (const Profiler::Event& event : profiler->events()) {
    text += ",\n" + event_text(event, zero);
    if (text.size() < piece) continue;
    file.write(text);
    text.clear();
  }
  file.write(text + "]}\n");
  file.keep();
}

}  // namespace

template <>
inline constexpr const char* lua::class_name<SharedProfiler> = "mr.Profiler";
template <>
inline constexpr const char* lua::class_name<RunningProfile> = "mr.RunningProfile";
template <>
inline constexpr const char* lua::class_name<Phase> = "mr.Phase";

using lua::once;
using lua::op;
extern const lua::OpTable profile_functions{
    lua::OpTable::functions,
    nullptr,
    {op<&profiler_of>("profiler", "most_events",
                      "Measures the time of operations and phases. Keeps up to `most_events` events for a trace."),
     op<&profiling_of>("profiling", "", "True if a profile runs."),
     op<&stop_profiles_of>("stop_profiles", "", "Stops all profiles."),
     once<&phase_of>("begin_phase", "name, outermost?",
                     "Begins a phase in all running profiles; with `outermost`, only if no phase is open. Closing the "
                     "result ends it.")}};
extern const lua::OpTable profiler_methods{
    lua::OpTable::methods,
    &lua::push_metatable<SharedProfiler>,
    {once<&start_of>("start", "self", "Measures until the result is closed."),
     op<&account_of>("account", "self", "The measurements so far, in seconds and bytes."),
     op<&save_trace_of>("save_trace", "self, path", "Writes the events in Chrome's trace format.")}};
extern const lua::OpTable running_profile_methods{lua::OpTable::methods, &lua::push_metatable<RunningProfile>, {}};
extern const lua::OpTable profile_phase_methods{lua::OpTable::methods, &lua::push_metatable<Phase>, {}};

}  // namespace mr
