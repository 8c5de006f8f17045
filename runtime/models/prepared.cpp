// The first part of every optimizer step. Updates of rows without a gradient wait if that saves time: by a closed form
// (deferred.h), or to be replayed (replay.h).
#include "runtime/models/prepared.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/check.h"

namespace mr {
namespace {

/// Sets, for each row that has a gradient in this step, the row's place in the gradient (`slot`).
void set_slots(ParameterState& state, const Tensor& rows) {
  if (!state.slot.defined()) state.slot = Tensor::full({state.parameter.size(0)}, -1, Dtype::int64);
  int64_t* const slot = state.slot.span<int64_t>().data;
  for (const int64_t row : state.in_slot) slot[row] = -1;
  const int64_t count = rows.entries();
  state.in_slot.resize(static_cast<size_t>(count));
  const IndexView now{rows.span<const int64_t>().data};
  int64_t* const in_slot = state.in_slot.data();
  for (int64_t i = 0; i < count; ++i) {
    in_slot[i] = now[i];
    slot[now[i]] = i;
  }
}

/// Adds the rows with a gradient to the rows that ever had one.
void remember(ParameterState& state, int64_t all) {
  if (state.touched_count == all) return;
  state.is_touched.resize(static_cast<size_t>(all), 0);
  uint8_t* const is_touched = state.is_touched.data();
  const int64_t *const in_slot = state.in_slot.data(), count = static_cast<int64_t>(state.in_slot.size());
  int64_t before = 0;
  for (int64_t i = 0; i < count; ++i) before += is_touched[in_slot[i]];
  if (before == count) return;
  for (int64_t i = 0; i < count; ++i) is_touched[in_slot[i]] = 1;
  state.touched_count += count - before;
  state.touched = Tensor();
}

/// Prepares a step with a sparse gradient on the GPU, without the host. It keeps no list of rows that ever had a
/// gradient, because the step of other rows is zero, except with weight decay. Unless `all_rows`, only rows with a
/// gradient are updated.
void prepare_there(ParameterState& state, const Gradient& once, bool all_rows, Prepared& ready) {
  const Device device = state.parameter.device();
  const int64_t count = once.rows.entries();
  if (!state.slot.defined()) state.slot = Tensor::full({state.parameter.size(0)}, -1, Dtype::int64, device);
  const Span<int64_t> slots = state.slot.span<int64_t>();
  // Resets the places of all rows, not only of the last gradient's rows: an abandoned recording of GPU work never set
  // the places of its rows.
  if (state.slots_set) kernels<MoveKernels<int64_t>>(device).fill(slots.size, {.out = slots, .value = -1});
  ready.slot = state.slot;
  ready.in_slots = once.rows;
  if (!all_rows) {
    ready.rows = Tensor::empty({count}, Dtype::int64, device);
    ready.entries = count * state.parameter.shape().stride(0);
  }
  state.slots_set = true;
  ready.set_slots(false);
}

/// Threshold for deferring updates, in entries times (rows / rows with a gradient). Below it, deferring costs more time
/// than it saves, because the parameter fits into the cache or many rows are updated in every step.
std::atomic<int64_t> least_put_off{1 << 21};

/// Returns true if deferring updates saves time. It stays true for a parameter whose updates are deferred, however many
/// rows have a gradient later.
bool worth_deferring(const ParameterState& state, const Gradient& once) {
  if (state.deferred != nullptr || state.replay != nullptr) return true;
  const double rows_of_one =
      static_cast<double>(state.parameter.size(0)) / static_cast<double>(std::max<int64_t>(1, once.rows.entries()));
  return static_cast<double>(state.parameter.entries()) * rows_of_one >= static_cast<double>(least_put_off);
}

/// Returns true if the updates of rows without a gradient can wait and waiting saves time.
bool can_wait(const ParameterState& state, const Gradient& gradient) {
  const Tensor& parameter = state.parameter;
  return gradient.sparse() && parameter.device() == Device::cpu && state.alone && parameter.whole() &&
         parameter.entries() > 0 && worth_deferring(state, gradient);
}
bool can_defer(const ParameterState& state, const Gradient& gradient, const Motion& motion) {
  constexpr int64_t most_steps = std::numeric_limits<int32_t>::max() - StepLog::kept;
  return motion.glide && can_wait(state, gradient) && state.steps < most_steps &&
         StepLog::possible(*motion.glide, state.parameter.dtype());
}
bool can_replay(const ParameterState& state, const Gradient& gradient, const Motion& motion) {
  return motion.rule && can_wait(state, gradient) && Replay::possible(*motion.rule, state.parameter.dtype());
}

/// Starts to defer updates if that is worthwhile; returns true if updates of rows without a gradient are deferred in
/// this step.
bool defer(ParameterState& state, const Gradient& once, const Motion& motion) {
  const bool possible = can_defer(state, once, motion);
  if (state.deferred != nullptr &&
      (!possible || state.deferred->gone() || !(state.deferred->method() == *motion.glide))) {
    if (!state.deferred->gone()) state.parameter.storage().put_off(nullptr);
    if (state.deferred->method().has_mean()) state.mean = state.deferred->moments().mean;
    if (state.deferred->method().has_square()) state.square = state.deferred->moments().square;
    state.deferred = nullptr;
    state.all_touched = true;
  }
  if (!possible) {
    // applies the updates that another optimizer has deferred for this parameter, because this step does not defer
    if (state.parameter.storage().deferral() != state.replay) state.parameter.storage().put_off(nullptr);
    return false;
  }
  if (state.deferred == nullptr) {
    state.deferred = Deferred::start(state.parameter, {state.mean, state.square}, *motion.glide, state.steps);
    if (motion.glide->has_mean()) state.mean = Tensor();
    if (motion.glide->has_square()) state.square = Tensor();
  }
  state.deferred->prepare(once);
  return true;
}

/// Ends the replay of updates, unless this step continues it.
void end_replay(ParameterState& state, bool replays, const Motion& motion) {
  if (state.replay == nullptr) return;
  const bool gone = state.replay->gone();
  if (replays && !gone && state.replay->rule() == *motion.rule) return;
  if (!gone) state.parameter.storage().put_off(nullptr);
  state.replay = nullptr;
}

/// Replays the updates that the rows of the gradient have missed, and makes the step leave out all other rows.
void replay(ParameterState& state, const Tensor& rows, const StepRule& rule, Prepared& ready) {
  if (state.replay == nullptr) {
    if (rule.has_mean() && !state.mean.defined()) state.mean = zeros_like(state.parameter);
    if (!state.square.defined()) state.square = zeros_like(state.parameter);
    const bool all = rule.moves_all() || state.all_touched;
    state.replay = Replay::start(state.parameter, rule.has_mean() ? state.mean : Tensor(), state.square, rule,
                                 all ? std::vector<uint8_t>() : state.is_touched);
  }
  state.replay->prepare(rows);
  ready.replay = state.replay.get();
}

/// Returns the rows that ever had a gradient.
const Tensor& touched(ParameterState& state) {
  if (!state.touched.defined()) state.touched = Tensor::from(touched_rows(state));
  return state.touched;
}

}  // namespace

int64_t put_off_from(std::optional<int64_t> entries) {
  const int64_t was = least_put_off;
  if (entries) least_put_off = *entries;
  return was;
}

std::vector<int64_t> touched_rows(const ParameterState& state) {
  std::vector<int64_t> rows;
  rows.reserve(static_cast<size_t>(state.touched_count));
  for (size_t row = 0; row < state.is_touched.size(); ++row) {
    if (state.is_touched[row] != 0) rows.push_back(static_cast<int64_t>(row));
  }
  return rows;
}

void clear_slots(ParameterState& state, const Prepared& ready) {
  ready.set_slots(true);
  state.slots_set = false;
}

Prepared prepare(ParameterState& state, const Motion& motion) {
  const bool with_history = motion.history, all_rows = motion.all_rows;
  const Tensor& parameter = state.parameter;
  const Gradient& gradient = parameter.node()->grad;
  Prepared ready;
  ready.entries = parameter.entries();
  const Gradient once = gradient.sparse() ? merged(gradient) : gradient;
  const bool replays = !can_defer(state, once, motion) && can_replay(state, once, motion);
  end_replay(state, replays, motion);
  ready.deferred = defer(state, once, motion);
  if (ready.deferred) return ready;
  if (!gradient.sparse()) {
    ready.values = gradient.dense;
    state.all_touched = true;
    return ready;
  }
  ready.values = once.values;
  if (parameter.device() == Device::cuda) {
    prepare_there(state, once, all_rows || with_history, ready);
    return ready;
  }
  set_slots(state, once.rows);
  remember(state, parameter.size(0));
  ready.slot = state.slot;
  if (all_rows) state.all_touched = true;
  if (replays) {
    replay(state, once.rows, *motion.rule, ready);
  } else if (all_rows || (with_history && state.all_touched)) {
    return ready;
  }
  const bool others = with_history && !replays;  // rows without a gradient move in this step
  const int64_t moving = others ? state.touched_count : static_cast<int64_t>(state.in_slot.size());
  if (moving == parameter.size(0)) return ready;
  ready.rows = others ? touched(state) : Tensor::from(state.in_slot);
  ready.entries = moving * parameter.shape().stride(0);
  return ready;
}

bool has_gradient(const ParameterState& state) { return state.parameter.node()->grad.defined(); }
int64_t width_of(const Tensor& parameter) { return parameter.dims() == 0 ? 1 : parameter.shape().stride(0); }
Tensor zeros_like(const Tensor& x) { return Tensor::zeros(x.shape(), x.dtype(), x.device()); }

void check_rates(double lr, double decay) {
  check::positive("lr", lr);
  if (!(decay >= 0)) throw ArgumentError("weight_decay", std::to_string(decay) + ", expected 0 or more");
}

}  // namespace mr
