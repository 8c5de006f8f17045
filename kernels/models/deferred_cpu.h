// Inner loops of rows whose steps were put off. Compiled once per instruction set and chosen when the program starts.
// Nothing is fused: all sets give the same bits as the plain kernels.
#pragma once

#include "kernels/models/deferred.h"

namespace mr::cpu {

template <class Real>
struct DeferredLoops {
  /// SettleRows and StepRows for rows `first` to `last` - 1 of those that are moved.
  void (*settle)(const SettleRows<Real>& work, int64_t first, int64_t last);
  void (*step)(const StepRows<Real>& work, int64_t first, int64_t last);
};

template <class Real>
const DeferredLoops<Real>& deferred_loops();

/// The same on one instruction set, whether or not the processor has it.
namespace scalar {
template <class Real>
DeferredLoops<Real> deferred();
}
namespace avx2 {
template <class Real>
DeferredLoops<Real> deferred();
}
namespace avx512 {
template <class Real>
DeferredLoops<Real> deferred();
}

}  // namespace mr::cpu
