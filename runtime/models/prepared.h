// The first part of every optimizer step: converts gradients to the form that kernels read, and finds the rows to
// update.
#pragma once

#include <optional>

#include "kernels/models/rows.h"
#include "runtime/models/optim.h"

namespace mr {

/// A gradient in the form that step kernels read, with the memory that holds it.
struct Prepared {
  Tensor values, slot, rows;
  // on the GPU: numbers of the rows that have a gradient, counted from 1. `slot` is set for these rows, but only while
  // the step runs.
  Tensor in_slots;
  int64_t entries = 0;
  // true if updates are deferred: then `ParameterState::deferred` takes the step and other members are unused
  bool deferred = false;
  Replay* replay = nullptr;  // the object that delays and later replays the updates of rows without a gradient, or null

  template <class Real>
  GradientView<Real> gradient(int64_t width) const {
    return {.values = values.span<Real>().data,
            .slot = slot.defined() ? slot.span<int64_t>().data : nullptr,
            .width = width};
  }
  EntriesOfRows chosen(int64_t width) const { return {rows.defined() ? rows.span<int64_t>().data : nullptr, width}; }
  /// Returns the address of the parameter's numbers, for the step to change.
  template <class Real>
  Real* numbers(const Tensor& parameter) const {
    return replay != nullptr ? static_cast<Real*>(replay->numbers()) : parameter.span_to_write<Real>().data;
  }
  /// Tells `replay`, if there is one, that a step follows. Must be called before the step changes the parameter.
  void begin_step(double rate, double correction = 1, double factor = 1) const {
    if (replay != nullptr) replay->begin_step(rate, correction, factor);
  }
  void set_slots(bool clear) const {
    if (!in_slots.defined()) return;
    kernels<TrainingKernels<float>>(Device::cuda)
        .set_slots(in_slots.entries(), {.rows = {in_slots.span<int64_t>().data},
                                        .slot = slot.span<int64_t>().data,
                                        .from0 = rows.defined() ? rows.span<int64_t>().data : nullptr,
                                        .clear = clear});
  }
};

/// Which rows a step of an optimizer changes: rows with a gradient; with `history` (momentum) also rows that ever had
/// one; with `all_rows` (weight decay) all rows. `glide` has the settings of the closed form of updates without a
/// gradient, if there is one, and `rule` the settings for replaying such updates step by step, if that is possible.
struct Motion {
  bool history, all_rows;
  std::optional<GlideMethod> glide = {};
  std::optional<StepRule> rule = {};
};

/// Prepares a step of a parameter that has a gradient. The parameter's numbers do not change yet, so if memory runs out
/// here, the step can be repeated.
Prepared prepare(ParameterState& state, const Motion& motion);
void clear_slots(ParameterState& state, const Prepared& ready);
/// Sets the threshold for deferring updates of rows without a gradient, if `entries` is given, and returns the previous
/// threshold. It is compared with the parameter's entries times (rows / rows with a gradient). Below it, deferring
/// costs more time than it saves, because the parameter fits into the cache or many rows are updated in every step.
int64_t put_off_from(std::optional<int64_t> entries);
/// Returns the numbers of the rows of a parameter that ever had a gradient, ascending, counted from 0.
std::vector<int64_t> touched_rows(const ParameterState& state);

bool has_gradient(const ParameterState& state);
int64_t width_of(const Tensor& parameter);
Tensor zeros_like(const Tensor& x);
/// Throws if the learning rate is not positive or the weight decay is negative.
void check_rates(double lr, double decay);

}  // namespace mr
