// Inner loops of fully connected layers. Compiled once per instruction set; nothing is fused and sums run in the same
// order everywhere: all sets give the same bits as the plain kernels.
#pragma once

#include "kernels/core/simd.h"
#include "kernels/models/layer.h"

namespace mr::cpu {

template <class Real>
struct LayerLoops {
  /// LayerForward for rows `first` to `last` - 1, and LayerVjp for pieces; not of activations with functions in them.
  void (*forward)(const LayerForward<Real>& work, int64_t first, int64_t last);
  void (*vjp)(const LayerVjp<Real>& work, int64_t first, int64_t last);
};

template <class Real>
const LayerLoops<Real>& layer_loops() {
  return chosen_loops<LayerLoops<Real>>();
}

}  // namespace mr::cpu
