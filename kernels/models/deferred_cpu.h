// Inner loops of rows whose steps were put off. Compiled once per instruction set; nothing is fused: all sets give the
// same bits as the plain kernels.
#pragma once

#include "kernels/core/simd.h"
#include "kernels/models/deferred.h"

namespace mr::cpu {

template <class Real>
struct DeferredLoops {
  /// SettleRows and StepRows for rows `first` to `last` - 1 of those that are moved.
  void (*settle)(const SettleRows<Real>& work, int64_t first, int64_t last);
  void (*step)(const StepRows<Real>& work, int64_t first, int64_t last);
};

template <class Real>
const DeferredLoops<Real>& deferred_loops() {
  return chosen_loops<DeferredLoops<Real>>();
}

}  // namespace mr::cpu
