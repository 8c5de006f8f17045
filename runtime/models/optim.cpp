// Optimizers, which change parameters in place. With a sparse gradient, rows that never had a gradient need no update,
// because their step is exactly zero, except with weight decay.
#include <algorithm>
#include <map>
#include <utility>

#include "runtime/autograd/node.h"
#include "runtime/models/prepared.h"
#include "runtime/ops/argument_checks.h"

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

void sgd_step(OptimizerState& all, double lr, double momentum, double decay) {
  check_rates(lr, decay);
  if (!(momentum >= 0 && momentum < 1))
    throw ArgumentError("momentum", number_text(momentum) + ", expected a number of at least 0 and below 1");
  Motion motion{momentum > 0, decay > 0};
  if (momentum > 0 || decay > 0) motion.glide = GlideMethod{.beta1 = momentum, .decay = decay};
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
    ready.begin_step(lr);
    with_real(parameter.dtype(), [&, &state = state, &ready = ready]<class Real>() {
      kernels<TrainingKernels<Real>>(parameter.device())
          .sgd_step(ready.entries, {.parameter = ready.numbers<Real>(parameter),
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
  bool lazy;  // sparse Adam: only rows with a gradient are updated, and epsilon is not scaled by the bias correction
  bool decoupled = false;  // AdamW: weight decay is applied to the parameters directly, not through the gradient
};

using Moving = std::vector<std::pair<int32_t, Prepared>>;  // pairs of a parameter's index and its prepared gradient

/// Returns how many parameters, counted from index `from`, are updated in one kernel launch. A parameter that shares
/// its bytes with another one is updated alone: within a launch, the order of the two updates would be undefined.
int together(const OptimizerState& all, const Moving& moving, size_t from, size_t most) {
  const auto alone = [&](size_t k) { return all.parameters[static_cast<size_t>(moving[k].first)].alone; };
  size_t count = 1;
  while (alone(from) && count < most && from + count < moving.size() && alone(from + count)) ++count;
  return static_cast<int>(count);
}

/// Takes one Adam step of the parameters in `moving`, which have one dtype and device. On the GPU a kernel first
/// increments the step counters.
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
      const AdamRate rate = adam_rate(adam.lr, adam.beta1, adam.beta2, state.steps, adam.lazy);
      const double factor = adam.decoupled ? 1 - adam.lr * adam.decay : 1;
      ready.begin_step(rate.rate, rate.correction, factor);
      Real* const parameter = ready.template numbers<Real>(state.parameter);
      if (factor != 1) table.shrink(ready.entries, {parameter, static_cast<Real>(factor), ready.chosen(width)});
      steps.step[k] = {.parameter = parameter,
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
    if (!(beta >= 0 && beta < 1))
      throw ArgumentError(name, number_text(beta) + ", expected a number of at least 0 and below 1");
  };
  if (adam.lazy && adam.decay > 0)
    throw ArgumentError(
        "weight_decay",
        "must be 0 with sparse steps: decay changes every row, sparse steps change only rows with a gradient");
  rate("beta1", adam.beta1);
  rate("beta2", adam.beta2);
  if (!(adam.epsilon >= 0 && std::isfinite(adam.epsilon)))
    throw ArgumentError("epsilon", number_text(adam.epsilon) + ", expected a finite number, 0 or more");
}

/// The work of one Adam step, split by the way in which parameters are updated: parameters with deferred updates, and
/// the others by device and dtype.
struct AdamWork {
  std::vector<ParameterState*> deferred;
  std::map<std::pair<Device, Dtype>, Moving> moving;
};

Motion motion_of(const Adam& adam) {
  Motion motion{!adam.lazy, adam.decay > 0};
  if (adam.lazy) return motion;
  const double shrinks = adam.decoupled ? adam.decay : 0;
  motion.rule = {.kind = StepKind::adam,
                 .beta1 = adam.beta1,
                 .keep = adam.beta2,
                 .epsilon = adam.epsilon,
                 .decay = adam.decay - shrinks,
                 .shrinks = shrinks};
  // The closed form of deferred AdamW updates needs a decay factor 1 - lr * weight_decay above 0.
  if (adam.decay == shrinks && adam.lr * shrinks < 1)
    motion.glide = GlideMethod{StepKind::adam, adam.beta1, adam.beta2, adam.epsilon, shrinks};
  return motion;
}

/// Allocates moments and counts for every parameter with a gradient, and prepares the gradients. No parameter changes
/// yet.
AdamWork prepare_adam(OptimizerState& all, const Adam& adam) {
  AdamWork work;
  const Motion motion = motion_of(adam);
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
  // Nothing is allocated after this line. A step that ran out of memory before it has changed no parameter and can be
  // repeated.
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
