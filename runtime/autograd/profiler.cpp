#include "runtime/autograd/profiler.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <tuple>
#include <utility>

#include "kernels/device/gpu.h"
#include "runtime/tensor/storage.h"

namespace mr {
namespace {

thread_local uint64_t last_phase = 0;

int64_t now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Profiler::Profiler(int64_t most_events) : most_events_(static_cast<size_t>(most_events)) {
  events_.reserve(most_events_);  // allocates memory for all events now, so that recording an event allocates nothing
}

/// Returns the time. If there are tensors on the GPU, it first waits until the GPU has finished its queued work.
int64_t Profiler::now_synchronized() {
  if (Storage::held(Device::cuda) == 0) return now();
  cuda::gpu().synchronize();
  for (Profiler* each = Timed::running; each != nullptr; each = each->outer_) each->waited_ = true;
  return now();
}

void Profiler::start() {
  if (runs_) return;
  const int64_t begin = now_synchronized();
  outer_ = std::exchange(Timed::running, this);
  runs_ = true;
  begin_ = begin;
}

void Profiler::stop() noexcept {
  if (!runs_) return;
  const int64_t end = now();
  for (Stack* stack : {&operations_, &phases_}) {
    while (!stack->empty()) close_last(*stack, end);
  }
  elapsed_ += end - begin_;
  runs_ = false;
  Profiler** at = &Timed::running;
  while (*at != nullptr && *at != this) at = &(*at)->outer_;
  if (*at == this) *at = std::exchange(outer_, nullptr);
}

const char* Profiler::kept_name(const std::string& name) {
  const auto found = std::find(names_.begin(), names_.end(), name);
  return (found == names_.end() ? names_.emplace_back(name) : *found).c_str();
}

void Profiler::open(const char* name, Timed::Kind kind, uint64_t number, int64_t begin) {
  (kind == Timed::phase ? phases_ : operations_)
      .push_back({.name = name,
                  .kind = kind,
                  .number = number,
                  .sums = &sums_[{name, kind}],
                  .begin = begin,
                  .bytes = Storage::taken(),
                  .nested = 0,
                  .nested_bytes = 0});
}

void Profiler::close_last(Stack& stack, int64_t end) noexcept {
  if (stack.empty()) return;
  const Open last = stack.back();
  stack.pop_back();
  if (last.sums == nullptr) return;
  const int64_t duration = end - last.begin, bytes = Storage::taken() - last.bytes;
  ++last.sums->calls;
  last.sums->total += duration;
  last.sums->self += duration - last.nested;
  last.sums->bytes += bytes - last.nested_bytes;
  if (!stack.empty()) {
    stack.back().nested += duration;
    stack.back().nested_bytes += bytes;
  } else if (last.kind != Timed::phase) {
    in_operations_ += duration;
  }
  if (events_.size() < most_events_) {
    events_.push_back(
        {.name = last.name, .kind = last.kind, .begin = last.begin, .duration = duration, .bytes = bytes});
  } else {
    ++left_out_;
  }
}

void Profiler::stop_all() noexcept {
  while (Timed::running != nullptr) Timed::running->stop();
}

uint64_t Profiler::begin_phase(const std::string& name, bool outermost) {
  if (Timed::running == nullptr) return 0;
  for (Profiler* each = Timed::running; each != nullptr; each = each->outer_) {
    // The innermost operation that runs now is this function's own call from Lua. It is excluded from the profile.
    if (!each->operations_.empty()) each->operations_.back().sums = nullptr;
  }
  if (outermost && !Timed::running->phases_.empty()) return 0;
  const uint64_t number = ++last_phase;
  const int64_t begin = now_synchronized();
  for (Profiler* each = Timed::running; each != nullptr; each = each->outer_)
    each->open(each->kept_name(name), Timed::phase, number, begin);
  return number;
}

void Profiler::end_phase(uint64_t number) noexcept {
  if (number == 0 || Timed::running == nullptr) return;
  const int64_t end = now();
  for (Profiler* each = Timed::running; each != nullptr; each = each->outer_) {
    Stack& phases = each->phases_;
    const auto is_it = [&](const Open& open) { return open.number == number; };
    if (std::none_of(phases.begin(), phases.end(), is_it)) continue;
    while (phases.back().number != number) each->close_last(phases, end);
    each->close_last(phases, end);
  }
}

std::vector<Profiler::Row> Profiler::rows() const {
  // Merges the sums of equal names by their text, because equal names may have different addresses.
  std::map<std::pair<Timed::Kind, std::string>, Sums> by_name;
  for (const auto& [key, sums] : sums_) {
    if (sums.calls == 0) continue;
    Sums& row = by_name[{key.kind, key.name}];
    row.calls += sums.calls;
    row.self += sums.self;
    row.total += sums.total;
    row.bytes += sums.bytes;
  }
  std::vector<Row> rows;
  for (const auto& [key, sums] : by_name) rows.push_back({.name = key.second, .kind = key.first, .sums = sums});
  return rows;
}

void Timed::begin(const char* name, Kind kind) {
  if (name[0] == '_' && name[1] == '_') name += 2;  // removes the underscores of Lua's metamethods, such as __add
  const int64_t begin = Profiler::now_synchronized();
  for (Profiler* each = running; each != nullptr; each = each->outer_) each->open(name, kind, 0, begin);
  profiler_ = running;
}

void Timed::end() noexcept {
  int64_t end = 0;
  try {
    end = Profiler::now_synchronized();
  } catch (const std::exception&) {  // the GPU no longer works; the next operation reports this error
    end = now();
  }
  for (Profiler* each = profiler_; each != nullptr; each = each->outer_) each->close_last(each->operations_, end);
}

}  // namespace mr
