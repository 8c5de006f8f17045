// The first part of every optimiser's step: gradients in the form that kernels read, and the rows
// that move.
#pragma once

#include <optional>

#include "kernels/models/rows.h"
#include "runtime/models/optim.h"

namespace mr {

/// A gradient in the form that the step kernels read, and the memory under it.
struct Prepared {
  Tensor values, slot, rows;
  Tensor in_slots;  // on the GPU: the rows, counted from 1, that the slots are of while the step lasts
  int64_t entries = 0;
  bool deferred = false;  // `ParameterState::deferred` has all that is needed

  template <class Real>
  GradientView<Real> gradient(int64_t width) const {
    return {.values = values.span<Real>().data,
            .slot = slot.defined() ? slot.span<int64_t>().data : nullptr,
            .width = width};
  }
  EntriesOfRows chosen(int64_t width) const { return {rows.defined() ? rows.span<int64_t>().data : nullptr, width}; }
  void set_slots(bool clear) const {
    if (!in_slots.defined()) return;
    kernels<TrainingKernels<float>>(Device::cuda)
        .set_slots(in_slots.entries(), {.rows = {in_slots.span<int64_t>().data},
                                        .slot = slot.span<int64_t>().data,
                                        .from0 = rows.defined() ? rows.span<int64_t>().data : nullptr,
                                        .clear = clear});
  }
};

/// Which rows a step moves: those with a gradient; with `history` (momentum) also those that had one earlier; with
/// weight decay all. `glide` says how rows with a history move, where they do so alike.
struct Motion {
  bool history, all_rows;
  std::optional<GlideMethod> glide;
};

/// The gradient of a parameter that has one; nothing moves yet, and a step that runs out of memory here can be tried
/// again.
Prepared prepare(ParameterState& state, const Motion& motion);
/// After the step.
void clear_slots(ParameterState& state, const Prepared& ready);

/// True if there is anything to do.
bool has_gradient(const ParameterState& state);
int64_t width_of(const Tensor& parameter);
Tensor zeros_like(const Tensor& x);
/// Throws where lr is not positive or decay is negative.
void check_rates(double lr, double decay);

}  // namespace mr
