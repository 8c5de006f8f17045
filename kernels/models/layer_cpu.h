// Inner loops of fully connected layers, compiled once per instruction set. They use no fused operations and sum in one
// order, so every set gives the same bits as the reference kernels.
#pragma once

#include "kernels/core/simd/simd.h"
#include "kernels/models/layer.h"

namespace mr::cpu {

template <class Real>
struct LayerLoops {
  /// `forward` runs LayerForward for rows `first` to `last` - 1, and `vjp` runs LayerVjp for ranges of rows (pieces).
  /// Activations that call functions (tanh, sigmoid, softplus) are not supported.
  void (*forward)(const LayerForward<Real>& work, int64_t first, int64_t last);
  void (*vjp)(const LayerVjp<Real>& work, int64_t first, int64_t last);
};

template <class Real>
const LayerLoops<Real>& layer_loops() {
  return chosen_loops<LayerLoops<Real>>();
}

}  // namespace mr::cpu
