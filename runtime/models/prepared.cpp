// The first part of every optimizer step: prepares gradients and finds the rows to update. Updates of rows without a
// gradient are delayed if that saves time. Later they are applied by a closed form (deferred.h) or step by step
// (replay.h).
#include "runtime/models/prepared.h"

#include <algorithm>
#include <atomic>
#include <limits>
#include <utility>

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

/// Writes to `slot`, for each row in `rows`, the position of its gradient in the sparse gradient of this step. Resets
/// the entries of the previous step to -1.
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

/// Marks the rows of this step's gradient as rows that have had a gradient. `all`: number of rows of the parameter.
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

/// Prepares a step with a sparse gradient on the GPU, without waiting for the GPU. Updates only rows with a gradient,
/// or with `all_rows` all rows, because the GPU keeps no list of rows that ever had a gradient.
void prepare_there(ParameterState& state, const Gradient& once, bool all_rows, Prepared& ready) {
  const Device device = state.parameter.device();
  const int64_t count = once.rows.entries();
  if (!state.slot.defined()) state.slot = Tensor::full({state.parameter.size(0)}, -1, Dtype::int64, device);
  const Span<int64_t> slots = state.slot.span<int64_t>();
  // Resets `slot` for all rows if a step failed to reset it. Resetting the rows of the last gradient is not enough: if
  // the recording of a CUDA graph was abandoned, other rows were set.
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

/// Threshold for deferring the updates of rows without a gradient: number of entries of the parameter times (its rows /
/// rows with a gradient). Below it, deferring costs more time than it saves, because the parameter fits into the cache
/// or many rows are updated in every step.
std::atomic<int64_t> least_put_off{1 << 21};

/// Returns true if deferring the updates of rows without a gradient saves time. Once updates of a parameter are
/// deferred, always returns true, however many rows have a gradient.
bool worth_deferring(const ParameterState& state, const Gradient& once) {
  if (state.deferred != nullptr || state.replay != nullptr) return true;
  const double rows_of_one =
      static_cast<double>(state.parameter.size(0)) / static_cast<double>(std::max<int64_t>(1, once.rows.entries()));
  return static_cast<double>(state.parameter.entries()) * rows_of_one >= static_cast<double>(least_put_off);
}

/// Returns true if the updates of rows without a gradient can be delayed and if that saves time.
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

/// Returns true if this step defers the updates of rows without a gradient, and prepares it. Starts or ends deferring
/// as needed.
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
    // another optimizer may have deferred updates of this parameter: they are applied now, because this step does not
    // defer
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

/// Stops delaying updates by replay, unless this step continues it: applies all updates that rows have missed.
void end_replay(ParameterState& state, bool replays, const Motion& motion) {
  if (state.replay == nullptr) return;
  const bool gone = state.replay->gone();
  if (replays && !gone && state.replay->rule() == *motion.rule) return;
  if (!gone) state.parameter.storage().put_off(nullptr);
  state.replay = nullptr;
}

/// Replays the updates that the given rows have missed, and sets up the step so that it updates only these rows.
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

/// Returns the numbers of the rows that ever had a gradient, as a tensor cached in `state`.
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
  // true if this step also updates rows without a gradient that had one before
  const bool others = with_history && !replays;
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
  if (!(decay >= 0)) throw ArgumentError("weight_decay", number_text(decay) + ", expected 0 or more");
}

}  // namespace mr
