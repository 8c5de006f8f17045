// Optimizers. Only they change parameters in place. With a sparse gradient, only rows that ever had a gradient are
// updated, because the step of other rows is exactly zero, except with weight decay.
#include <algorithm>
#include <atomic>
#include <limits>
#include <map>
#include <utility>

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/models/prepared.h"
#include "runtime/ops/check.h"

namespace mr {
namespace {

OptimizerState optimizer_state(const std::vector<Tensor>& parameters) {
  OptimizerState state;
  for (const Tensor& parameter : parameters) {
    check::floating("parameters", parameter);
    if (parameter.node() == nullptr || !parameter.node()->leaf) {
      throw ArgumentError("parameters", "has a tensor without gradients: call :requires_grad() on it first");
    }
    ParameterState& added = state.parameters.emplace_back();
    added.parameter = parameter;
    for (ParameterState& other : state.parameters) {
      if (&other != &added && other.parameter.same_bytes(parameter)) other.alone = added.alone = false;
    }
  }
  return state;
}

/// Sets the slots of the rows that have a gradient in this step.
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
  if (static_cast<int64_t>(state.touched.size()) == all) return;
  state.is_touched.resize(static_cast<size_t>(all), 0);
  uint8_t* const is_touched = state.is_touched.data();
  const int64_t *const in_slot = state.in_slot.data(), count = static_cast<int64_t>(state.in_slot.size());
  int64_t before = 0;
  for (int64_t i = 0; i < count; ++i) before += is_touched[in_slot[i]];
  if (before == count) return;
  for (int64_t i = 0; i < count; ++i) is_touched[in_slot[i]] = 1;
  state.touched_there = Tensor();
  state.touched.clear();
  for (int64_t row = 0; row < all; ++row) {
    if (state.is_touched[row] != 0) state.touched.push_back(row);
  }
}

/// Prepares a step with a sparse gradient on the GPU, without the host. It keeps no list of rows that ever had a
/// gradient, because the step of other rows is zero, except with weight decay. Unless `all_rows`, only rows with a
/// gradient are updated.
void prepare_there(ParameterState& state, const Gradient& once, bool all_rows, Prepared& ready) {
  const Device device = state.parameter.device();
  const int64_t count = once.rows.entries();
  if (!state.slot.defined()) state.slot = Tensor::full({state.parameter.size(0)}, -1, Dtype::int64, device);
  const Span<int64_t> slots = state.slot.span<int64_t>();
  // Resets the slots of all rows, not only of the last gradient's rows: an abandoned recording of GPU work never set
  // the slots of its rows.
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

int64_t put_off_from(std::optional<int64_t> entries) {
  const int64_t was = least_put_off;
  if (entries) least_put_off = *entries;
  return was;
}

/// True if deferring updates saves time. A parameter whose updates are deferred stays so, however many rows have a
/// gradient later.
bool worth_deferring(const ParameterState& state, const Gradient& once) {
  if (state.deferred != nullptr) return true;
  const double rows_of_one =
      static_cast<double>(state.parameter.size(0)) / static_cast<double>(std::max<int64_t>(1, once.rows.entries()));
  return static_cast<double>(state.parameter.entries()) * rows_of_one >= static_cast<double>(least_put_off);
}

bool can_defer(const ParameterState& state, const Gradient& gradient, const Motion& motion) {
  constexpr int64_t most_steps = std::numeric_limits<int32_t>::max() - StepLog::kept;
  const Tensor& parameter = state.parameter;
  return motion.glide && gradient.sparse() && parameter.device() == Device::cpu && state.alone && parameter.whole() &&
         parameter.entries() > 0 && worth_deferring(state, gradient) && state.steps < most_steps &&
         StepLog::possible(*motion.glide);
}

/// Starts to defer updates if that is worthwhile; returns true if updates of rows without a gradient are deferred in
/// this step.
bool defer(ParameterState& state, const Gradient& once, const Motion& motion) {
  const bool possible = can_defer(state, once, motion);
  if (state.deferred != nullptr &&
      (!possible || state.deferred->gone() || !(state.deferred->method() == *motion.glide))) {
    if (!state.deferred->gone()) state.parameter.storage().put_off(nullptr);
    state.mean = state.deferred->moments().mean;
    if (state.deferred->method().adam) state.square = state.deferred->moments().square;
    state.deferred = nullptr;
    state.all_touched = true;
  }
  if (!possible) {
    // applies the updates that another optimizer has deferred for this parameter
    state.parameter.storage().put_off(nullptr);
    return false;
  }
  if (state.deferred == nullptr) {
    state.deferred = Deferred::start(state.parameter, {state.mean, state.square}, *motion.glide, state.steps);
    state.mean = Tensor();
    if (motion.glide->adam) state.square = Tensor();
  }
  state.deferred->prepare(once);
  return true;
}

}  // namespace

void clear_slots(ParameterState& state, const Prepared& ready) {
  ready.set_slots(true);
  state.slots_set = false;
}

Prepared prepare(ParameterState& state, const Motion& motion) {
  const auto [with_history, all_rows, glide] = motion;
  const Tensor& parameter = state.parameter;
  const Gradient& gradient = parameter.node()->grad;
  Prepared ready;
  ready.entries = parameter.entries();
  const Gradient once = gradient.sparse() ? merged(gradient) : gradient;
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
  if (all_rows || (with_history && state.all_touched)) return ready;
  const std::vector<int64_t>& moving = with_history ? state.touched : state.in_slot;
  if (static_cast<int64_t>(moving.size()) == parameter.size(0)) return ready;
  if (with_history && !state.touched_there.defined()) state.touched_there = Tensor::from(moving);
  ready.rows = with_history ? state.touched_there : Tensor::from(moving);
  ready.entries = static_cast<int64_t>(moving.size()) * parameter.shape().stride(0);
  return ready;
}

bool has_gradient(const ParameterState& state) { return state.parameter.node()->grad.defined(); }
int64_t width_of(const Tensor& parameter) { return parameter.dims() == 0 ? 1 : parameter.shape().stride(0); }
Tensor zeros_like(const Tensor& x) { return Tensor::zeros(x.shape(), x.dtype(), x.device()); }

void check_rates(double lr, double decay) {
  check::positive("lr", lr);
  if (!(decay >= 0)) throw ArgumentError("weight_decay", std::to_string(decay) + ", expected 0 or more");
}

namespace {

void sgd_step(OptimizerState& all, double lr, double momentum, double decay) {
  check_rates(lr, decay);
  if (!(momentum >= 0 && momentum < 1)) throw ArgumentError("momentum", std::to_string(momentum) + ", expected 0 to 1");
  Motion motion{momentum > 0, decay > 0, {}};
  if (momentum > 0 && decay == 0) motion.glide = GlideMethod{momentum, 1, 0, false};
  // parameters to update, all prepared before the first one changes: if memory runs out here, no parameter changes
  std::vector<std::pair<ParameterState*, Prepared>> moving;
  for (ParameterState& state : all.parameters) {
    if (!has_gradient(state)) continue;
    moving.emplace_back(&state, prepare(state, motion));
    const bool needs_mean = momentum > 0 && !moving.back().second.deferred;
    if (needs_mean && !state.mean.defined()) state.mean = zeros_like(state.parameter);
  }
  for (auto& [state, ready] : moving) {
    const Tensor& parameter = state->parameter;
    ++state->steps;
    if (ready.deferred) {
      state->deferred->step(lr);
      continue;
    }
    const int64_t width = width_of(parameter);
    with_real(parameter.dtype(), [&, &state = state, &ready = ready]<class Real>() {
      kernels<TrainingKernels<Real>>(parameter.device())
          .sgd_step(ready.entries, {.parameter = parameter.span_to_write<Real>().data,
                                    .velocity = momentum > 0 ? state->mean.span<Real>().data : nullptr,
                                    .gradient = ready.gradient<Real>(width),
                                    .entries = ready.chosen(width),
                                    .lr = static_cast<Real>(lr),
                                    .momentum = static_cast<Real>(momentum),
                                    .decay = static_cast<Real>(decay)});
    });
    clear_slots(*state, ready);
  }
}

struct Adam {
  double lr, beta1, beta2, epsilon, decay;
  bool lazy;               // only rows with a gradient are updated, and epsilon has no bias correction
  bool decoupled = false;  // AdamW: weight decay is applied to the parameters directly, not through the gradient
};

using Moving = std::vector<std::pair<int32_t, Prepared>>;  // pairs of a parameter's index and its prepared gradient

/// How many parameters, from this one on, are updated in one launch. A parameter that shares its bytes with another one
/// is updated alone, because a launch has no order.
int together(const OptimizerState& all, const Moving& moving, size_t from, size_t most) {
  const auto alone = [&](size_t k) { return all.parameters[static_cast<size_t>(moving[k].first)].alone; };
  size_t count = 1;
  while (alone(from) && count < most && from + count < moving.size() && alone(from + count)) ++count;
  return static_cast<int>(count);
}

/// One Adam step of these parameters, all of one type and device. On the GPU the step counters are incremented first.
template <class Real>
void move(OptimizerState& all, const Moving& moving, const Adam& adam, Device device) {
  const auto& table = kernels<TrainingKernels<Real>>(device);
  const bool counted_there = device == Device::cuda;
  for (size_t from = 0; from < moving.size();) {
    const int count = together(all, moving, from, AdamSteps<Real>::most);
    AdamSteps<Real> steps{};
    AdamClock<Real> clock{.steps = counted_there ? all.steps.span<int64_t>().data : nullptr,
                          .rates = all.rates.span().data,
                          .lr = adam.lr,
                          .beta1 = adam.beta1,
                          .beta2 = adam.beta2,
                          .lazy = adam.lazy};
    for (int k = 0; k < count; ++k) {
      const auto& [number, ready] = moving[from + static_cast<size_t>(k)];
      const ParameterState& state = all.parameters[static_cast<size_t>(number)];
      const int64_t width = width_of(state.parameter);
      clock.parameter[k] = number;
      if (adam.decoupled && adam.decay > 0)
        table.shrink(state.parameter.entries(), {.parameter = state.parameter.span_to_write<Real>().data,
                                                 .factor = static_cast<Real>(1 - adam.lr * adam.decay)});
      const AdamRate rate = adam_rate(adam.lr, adam.beta1, adam.beta2, state.steps, adam.lazy);
      steps.step[k] = {.parameter = state.parameter.span_to_write<Real>().data,
                       .mean = state.mean.span<Real>().data,
                       .square = state.square.span<Real>().data,
                       .gradient = ready.template gradient<Real>(width),
                       .entries = ready.chosen(width),
                       .rate = static_cast<Real>(rate.rate),
                       .correction = static_cast<Real>(rate.correction),
                       .beta1 = static_cast<Real>(adam.beta1),
                       .beta2 = static_cast<Real>(adam.beta2),
                       .epsilon = static_cast<Real>(adam.epsilon),
                       .decay = static_cast<Real>(adam.decoupled ? 0 : adam.decay),
                       .clock = counted_there ? clock.rates + number : nullptr};
      steps.first[k + 1] = steps.first[k] + ready.entries;
    }
    if (counted_there) table.adam_clock(count, clock);
    table.adam_steps(steps.first[count], steps);
    from += static_cast<size_t>(count);
  }
}

void check_adam(const Adam& adam) {
  check_rates(adam.lr, adam.decay);
  const auto rate = [](const char* name, double beta) {
    if (!(beta >= 0 && beta < 1)) throw ArgumentError(name, std::to_string(beta) + ", expected 0 to 1");
  };
  if (adam.lazy && adam.decay > 0)
    throw ArgumentError(
        "weight_decay",
        "must be 0 with sparse steps: decay changes every row, sparse steps change only rows with a gradient");
  rate("beta1", adam.beta1);
  rate("beta2", adam.beta2);
  if (!(adam.epsilon >= 0 && std::isfinite(adam.epsilon)))
    throw ArgumentError("epsilon", std::to_string(adam.epsilon) + ", expected a finite number, 0 or more");
}

/// The parameters that have a gradient: those with deferred updates, and the others by type and device.
struct AdamWork {
  std::vector<ParameterState*> deferred;
  std::map<std::pair<Device, Dtype>, Moving> moving;
};

/// Allocates moments and counts for every parameter with a gradient, and prepares the gradients. No parameter changes
/// yet.
AdamWork prepare_adam(OptimizerState& all, const Adam& adam) {
  AdamWork work;
  Motion motion{!adam.lazy, adam.decay > 0, {}};
  if (!adam.lazy && adam.decay == 0) motion.glide = GlideMethod{adam.beta1, adam.beta2, adam.epsilon, true};
  for (size_t i = 0; i < all.parameters.size(); ++i) {
    ParameterState& state = all.parameters[i];
    if (!has_gradient(state)) continue;
    const Device device = state.parameter.device();
    if (device == Device::cuda && !all.steps.defined()) {
      const auto n = static_cast<int64_t>(all.parameters.size());
      all.rates = DeviceArray<AdamRate>(n, device);
      all.steps = Tensor::zeros({n}, Dtype::int64, device);
    }
    Prepared ready = prepare(state, motion);
    if (ready.deferred) {
      work.deferred.push_back(&state);
      continue;
    }
    if (!state.mean.defined()) state.mean = zeros_like(state.parameter);
    if (!state.square.defined()) state.square = zeros_like(state.parameter);
    work.moving[{device, state.parameter.dtype()}].emplace_back(static_cast<int32_t>(i), std::move(ready));
  }
  return work;
}

void adam_step(OptimizerState& all, double lr, double beta1, double beta2, double epsilon, double decay, bool lazy,
               std::optional<bool> decoupled) {
  const Adam adam{.lr = lr,
                  .beta1 = beta1,
                  .beta2 = beta2,
                  .epsilon = epsilon,
                  .decay = decay,
                  .lazy = lazy,
                  .decoupled = decoupled.value_or(false)};
  check_adam(adam);
  const AdamWork work = prepare_adam(all, adam);
  // No allocations from here on, so that a step that ran out of memory before this line can be repeated.
  for (ParameterState* const state : work.deferred) {
    ++state->steps;
    state->deferred->step(lr);
  }
  for (const auto& [kind, moving] : work.moving) {
    const auto [device, dtype] = kind;
    for (const auto& [number, ready] : moving) ++all.parameters[static_cast<size_t>(number)].steps;
    with_real(dtype, [&, device = device, &moving = moving]<class Real>() { move<Real>(all, moving, adam, device); });
    for (const auto& [number, ready] : moving) clear_slots(all.parameters[static_cast<size_t>(number)], ready);
  }
}

/// Copies a parameter's numbers into a snapshot that later steps do not change; `restore_of` copies them back.
Tensor snapshot_of(const Tensor& parameter, const std::optional<Tensor>& into) {
  if (into) {
    check::same_kind("into", *into, "parameter", parameter);
    check::same_shape("into", *into, "parameter", parameter);
  }
  const auto deferred = std::dynamic_pointer_cast<Deferred>(parameter.storage().deferral());
  if (deferred != nullptr && deferred->is_of(parameter)) return deferred->snapshot(parameter, into.value_or(Tensor()));
  if (!into) return parameter.clone();
  into->assign(parameter);
  return into->data();
}
void restore_of(const Tensor& parameter, const Tensor& snapshot) {
  check::same_kind("snapshot", snapshot, "parameter", parameter);
  check::same_shape("snapshot", snapshot, "parameter", parameter);
  parameter.assign(snapshot);
}

std::string count_text(const OptimizerState& state) {
  return "mr.OptimizerState of " + std::to_string(state.parameters.size()) + " parameters";
}

}  // namespace

using lua::once;
using lua::op;
extern const lua::OpTable optim_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&optimizer_state>("optimizer_state", "parameters", "The state that an optimizer keeps for its parameters."),
        op<&put_off_from>("put_off_from", "entries?",
                          "Threshold for deferred updates, in entries of a parameter times (rows / rows with a "
                          "gradient). Sets it, if given, and returns the previous one."),
        once<&sgd_step>("sgd_step", "state, lr, momentum, weight_decay", "One step of stochastic gradient descent."),
        once<&adam_step>("adam_step", "state, lr, beta1, beta2, epsilon, weight_decay, sparse, decoupled?",
                         "One step of Adam. sparse: only rows with a gradient are updated. decoupled: AdamW."),
        op<&snapshot_of>(
            "snapshot", "parameter, into?",
            "A copy of a parameter that later steps do not change. `into`: an earlier snapshot to overwrite."),
        op<&restore_of>("restore", "parameter, snapshot", "Copies the numbers of a snapshot into the parameter."),
    }};
extern const lua::OpTable optim_operators{lua::OpTable::metamethods,
                                          &lua::push_metatable<OptimizerState>,
                                          {op<&count_text>("__tostring", "self", "The number of parameters as text.")}};

}  // namespace mr
