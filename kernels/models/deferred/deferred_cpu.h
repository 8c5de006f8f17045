// Inner loops of deferred updates, compiled once per instruction set. They use no fused operations, so every set gives
// the same bits as the reference kernels.
#pragma once

#include "kernels/core/simd/simd.h"
#include "kernels/models/deferred/deferred.h"

namespace mr::cpu {

template <class Real>
struct DeferredLoops {
  /// `settle` runs SettleRows, and `step` runs StepRows, for the updated rows with positions `first` to `last` - 1.
  void (*settle)(const SettleRows<Real>& work, int64_t first, int64_t last);
  void (*step)(const StepRows<Real>& work, int64_t first, int64_t last);
};

template <class Real>
const DeferredLoops<Real>& deferred_loops() {
  return chosen_loops<DeferredLoops<Real>>();
}

}  // namespace mr::cpu
