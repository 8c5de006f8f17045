// Inner loops of replayed updates, compiled once per instruction set. They use no fused operations, so every set gives
// the same bits as the reference kernels.
#pragma once

#include "kernels/core/simd/simd.h"
#include "kernels/models/deferred/replay.h"

namespace mr::cpu {

template <class Real>
struct ReplayLoops {
  /// Runs ReplayRows for the rows with positions `first` to `last` - 1.
  void (*replay)(const ReplayRows<Real>& work, int64_t first, int64_t last);
};

template <class Real>
const ReplayLoops<Real>& replay_loops() {
  return chosen_loops<ReplayLoops<Real>>();
}

}  // namespace mr::cpu
