// RMSProp and Adagrad, which divide the gradient by the root of a sum of squared gradients. Without weight decay,
// Adagrad does not change rows without a gradient. RMSProp's sums decay in every step, so it updates all rows that ever
// had a gradient.
#include <cmath>
#include <utility>

#include "runtime/models/prepared.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

struct Method {
  double lr, keep, add, momentum, epsilon, decay;
};

void check_method(const Method& how) {
  check_rates(how.lr, how.decay);
  if (!(how.momentum >= 0 && how.momentum < 1))
    throw ArgumentError("momentum", std::to_string(how.momentum) + ", expected 0 to 1");
  if (!(how.epsilon >= 0 && std::isfinite(how.epsilon)))
    throw ArgumentError("epsilon", number_text(how.epsilon) + ", expected a finite number, 0 or more");
}

template <class Real>
void move(const ParameterState& state, const Prepared& ready, const Method& how) {
  const int64_t width = width_of(state.parameter);
  kernels<TrainingKernels<Real>>(state.parameter.device())
      .root_step(ready.entries, {.parameter = ready.numbers<Real>(state.parameter),
                                 .square = state.square.span<Real>().data,
                                 .velocity = how.momentum > 0 ? state.mean.span<Real>().data : nullptr,
                                 .gradient = ready.gradient<Real>(width),
                                 .entries = ready.chosen(width),
                                 .lr = static_cast<Real>(how.lr),
                                 .keep = static_cast<Real>(how.keep),
                                 .add = static_cast<Real>(how.add),
                                 .momentum = static_cast<Real>(how.momentum),
                                 .epsilon = static_cast<Real>(how.epsilon),
                                 .decay = static_cast<Real>(how.decay)});
}

void step(OptimizerState& all, const Method& how) {
  check_method(how);
  const bool history = how.keep != 1 || how.momentum > 0;
  Motion motion{history, how.decay > 0};
  if (history && how.decay == 0) motion.glide = GlideMethod{StepKind::root, how.momentum, how.keep, how.epsilon};
  if (how.decay > 0) {
    motion.rule = {.kind = StepKind::root,
                   .beta1 = how.momentum,
                   .keep = how.keep,
                   .add = how.add,
                   .epsilon = how.epsilon,
                   .decay = how.decay};
  }
  // parameters to update, all prepared before the first one changes: if memory runs out here, no parameter changes
  std::vector<std::pair<ParameterState*, Prepared>> moving;
  for (ParameterState& state : all.parameters) {
    if (!has_gradient(state)) continue;
    moving.emplace_back(&state, prepare(state, motion));
    if (moving.back().second.deferred) continue;
    if (!state.square.defined()) state.square = zeros_like(state.parameter);
    if (how.momentum > 0 && !state.mean.defined()) state.mean = zeros_like(state.parameter);
  }
  for (auto& [state, ready] : moving) {
    ++state->steps;
    if (ready.deferred) {
      state->deferred->step(how.lr);
      continue;
    }
    ready.begin_step(how.lr);
    with_real(state->parameter.dtype(),
              [&, &state = state, &ready = ready]<class Real>() { move<Real>(*state, ready, how); });
    clear_slots(*state, ready);
  }
}

void rmsprop_step(OptimizerState& all, double lr, double alpha, double momentum, double epsilon, double decay) {
  if (!(alpha >= 0 && alpha < 1))
    throw ArgumentError("alpha", number_text(alpha) + ", expected a number of at least 0 and below 1");
  step(all, {.lr = lr, .keep = alpha, .add = 1 - alpha, .momentum = momentum, .epsilon = epsilon, .decay = decay});
}

void adagrad_step(OptimizerState& all, double lr, double epsilon, double decay) {
  step(all, {.lr = lr, .keep = 1, .add = 1, .momentum = 0, .epsilon = epsilon, .decay = decay});
}

}  // namespace

using lua::once;
extern const lua::OpTable root_step_functions{
    lua::OpTable::functions,
    nullptr,
    {
        once<&rmsprop_step>("rmsprop_step", "state, lr, alpha, momentum, epsilon, weight_decay",
                            "One step of RMSProp."),
        once<&adagrad_step>("adagrad_step", "state, lr, epsilon, weight_decay", "One step of Adagrad."),
    }};

}  // namespace mr
