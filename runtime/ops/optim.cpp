// Optimisers: they change parameters in place, which nothing else may. A gradient by rows moves only rows that ever had
// one: the others' step is exactly zero, unless weights decay.
#include "runtime/ops/optim.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernels/tables/training.h"
#include "runtime/autograd/node.h"
#include "runtime/ops/check.h"

namespace mr {
namespace {

OptimizerState optimizer_state(const Tensor& parameter) {
  check::floating("parameter", parameter);
  if (parameter.node() == nullptr || !parameter.node()->leaf) {
    throw ArgumentError("parameter", "the tensor collects no gradients: call :requires_grad() first");
  }
  return {};
}

/// A gradient in the form that the step kernels read, and the memory under it.
struct Prepared {
  Tensor values, slot, rows;
  int64_t entries = 0;

  template <class Real>
  GradientView<Real> gradient(int64_t width) const {
    return {values.span<Real>().data, slot.defined() ? slot.span<int64_t>().data : nullptr, width};
  }
  EntriesOfRows chosen(int64_t width) const { return {rows.defined() ? rows.span<int64_t>().data : nullptr, width}; }
};

[[noreturn]] void fail_other(const Tensor& parameter, const Shape& theirs) {
  throw ArgumentError("state", "it belongs to another parameter, of shape " + theirs.text() +
                                   ", not to this one of shape " + parameter.shape().text());
}

/// Notes which rows have a gradient now.
void place(const Tensor& parameter, OptimizerState& state, const Tensor& rows) {
  const int64_t all = parameter.size(0);
  if (!state.slot.defined()) state.slot = Tensor::full({all}, -1, Dtype::int64);
  if (state.slot.entries() != all) fail_other(parameter, {state.slot.entries()});
  auto* const slot = static_cast<int64_t*>(state.slot.raw());
  for (const int64_t row : state.in_slot) slot[row] = -1;
  state.in_slot.clear();
  state.in_slot.resize(static_cast<size_t>(rows.entries()), 0);
  rows.copy_to_host(state.in_slot.data());
  for (size_t i = 0; i < state.in_slot.size(); ++i) slot[--state.in_slot[i]] = static_cast<int64_t>(i);
}

/// Adds these rows to those that had a gradient before.
void remember(OptimizerState& state, int64_t all) {
  state.is_touched.resize(static_cast<size_t>(all), 0);
  int64_t before = 0;
  for (const int64_t row : state.in_slot) before += std::exchange(state.is_touched[row], uint8_t{1});
  if (before == static_cast<int64_t>(state.in_slot.size())) return;
  state.touched_there = Tensor();
  state.touched.clear();
  for (int64_t row = 0; row < all; ++row) {
    if (state.is_touched[row] != 0) state.touched.push_back(row);
  }
}

/// `with_history`: rows that had a gradient earlier still move (momentum).
Prepared prepare(const Tensor& parameter, OptimizerState& state, bool with_history, bool all_rows) {
  const Gradient& gradient = parameter.node()->grad;
  Prepared ready;
  ready.entries = parameter.entries();
  if (!gradient.sparse()) {
    ready.values = gradient.dense;
    state.all_touched = true;
    return ready;
  }
  const Gradient once = merged(gradient);
  const Device device = parameter.device();
  place(parameter, state, once.rows);
  remember(state, parameter.size(0));
  ready.values = once.values;
  ready.slot = state.slot.to(device);
  if (all_rows || (with_history && state.all_touched)) return ready;
  const std::vector<int64_t>& moving = with_history ? state.touched : state.in_slot;
  if (static_cast<int64_t>(moving.size()) == parameter.size(0)) return ready;
  if (with_history && !state.touched_there.defined()) state.touched_there = Tensor::from(moving, device);
  ready.rows = with_history ? state.touched_there : Tensor::from(moving, device);
  ready.entries = static_cast<int64_t>(moving.size()) * parameter.shape().stride(0);
  return ready;
}

/// What belongs to another parameter would be written past its end.
void check_state(const Tensor& parameter, const Tensor& moments) {
  if (!moments.defined()) return;
  if (!(moments.shape() == parameter.shape()) || moments.dtype() != parameter.dtype() ||
      moments.device() != parameter.device()) {
    fail_other(parameter, moments.shape());
  }
}

/// Whether there is anything to do.
bool has_gradient(const Tensor& parameter) { return parameter.node() != nullptr && parameter.node()->grad.defined(); }

void check_rates(double lr, double decay) {
  check::positive("lr", lr);
  if (!(decay >= 0)) throw ArgumentError("weight_decay", std::to_string(decay) + ", expected 0 or more");
}

void sgd_step(const Tensor& parameter, OptimizerState& state, double lr, double momentum, double decay) {
  check_rates(lr, decay);
  if (!(momentum >= 0 && momentum < 1)) throw ArgumentError("momentum", std::to_string(momentum) + ", expected 0 to 1");
  if (!has_gradient(parameter)) return;
  check_state(parameter, state.mean);
  if (momentum > 0 && !state.mean.defined())
    state.mean = Tensor::zeros(parameter.shape(), parameter.dtype(), parameter.device());
  const Prepared ready = prepare(parameter, state, momentum > 0, decay > 0);
  const int64_t width = parameter.dims() == 0 ? 1 : parameter.shape().stride(0);
  with_real(parameter.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(parameter.device())
        .sgd_step(ready.entries, {parameter.span<Real>().data, momentum > 0 ? state.mean.span<Real>().data : nullptr,
                                  ready.gradient<Real>(width), ready.chosen(width), static_cast<Real>(lr),
                                  static_cast<Real>(momentum), static_cast<Real>(decay)});
  });
}

/// `lazy`: rows without a gradient stay and their moments too, and epsilon is not corrected for the step (as
/// torch.optim.SparseAdam has it).
void adam_step(const Tensor& parameter, OptimizerState& state, double lr, double beta1, double beta2, double epsilon,
               double decay, bool lazy) {
  check_rates(lr, decay);
  if (lazy && decay > 0) throw ArgumentError("weight_decay", "it moves every row, and sparse steps move few: use 0");
  if (!(beta1 >= 0 && beta1 < 1)) throw ArgumentError("beta1", std::to_string(beta1) + ", expected 0 to 1");
  if (!(beta2 >= 0 && beta2 < 1)) throw ArgumentError("beta2", std::to_string(beta2) + ", expected 0 to 1");
  if (!has_gradient(parameter)) return;
  check_state(parameter, state.mean);
  if (!state.square.defined()) {
    state.mean = Tensor::zeros(parameter.shape(), parameter.dtype(), parameter.device());
    state.square = Tensor::zeros(parameter.shape(), parameter.dtype(), parameter.device());
  }
  const Prepared ready = prepare(parameter, state, !lazy, decay > 0);
  // counted when nothing can fail any more: a step that ran out of memory is tried again
  const auto t = static_cast<double>(++state.steps);
  const int64_t width = parameter.dims() == 0 ? 1 : parameter.shape().stride(0);
  const double left1 = 1 - std::pow(beta1, t), left2 = 1 - std::pow(beta2, t);
  const double rate = lazy ? lr * std::sqrt(left2) / left1 : lr / left1, correction = lazy ? 1 : 1 / left2;
  with_real(parameter.dtype(), [&]<class Real>() {
    kernels<TrainingKernels<Real>>(parameter.device())
        .adam_step(ready.entries, {parameter.span<Real>().data, state.mean.span<Real>().data,
                                   state.square.span<Real>().data, ready.gradient<Real>(width), ready.chosen(width),
                                   static_cast<Real>(rate), static_cast<Real>(correction), static_cast<Real>(beta1),
                                   static_cast<Real>(beta2), static_cast<Real>(epsilon), static_cast<Real>(decay)});
  });
}

/// A copy that later steps do not change, and putting it back.
Tensor snapshot_of(const Tensor& parameter) { return parameter.clone(); }
void restore_of(const Tensor& parameter, const Tensor& snapshot) {
  check::same_kind("snapshot", snapshot, "parameter", parameter);
  check::same_shape("snapshot", snapshot, "parameter", parameter);
  parameter.assign(snapshot);
}

std::string text_of(const OptimizerState& state) {
  return "mr.OptimizerState after " + std::to_string(state.steps) + " steps";
}

}  // namespace

using lua::op;
extern const lua::OpTable optim_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&optimizer_state>("optimizer_state", "parameter", "What an optimiser remembers of a parameter."),
        op<&sgd_step>("sgd_step", "parameter, state, lr, momentum, weight_decay",
                      "One step of stochastic gradient descent."),
        op<&adam_step>("adam_step", "parameter, state, lr, beta1, beta2, epsilon, weight_decay, sparse",
                       "One step of Adam; sparse: only of rows with a gradient."),
        op<&snapshot_of>("snapshot", "parameter", "A copy that later steps do not change."),
        op<&restore_of>("restore", "parameter, snapshot", "Puts the numbers of a snapshot back."),
    }};
extern const lua::OpTable optim_operators{lua::OpTable::metamethods,
                                          &lua::push_metatable<OptimizerState>,
                                          {op<&text_of>("__tostring", "self", "How many steps were made.")}};

}  // namespace mr
