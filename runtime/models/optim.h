// The state that an optimizer keeps for its parameters.
#pragma once

#include <vector>

#include "kernels/models/adam.h"
#include "runtime/lua/bind.h"
#include "runtime/models/deferred.h"
#include "runtime/models/replay.h"
#include "runtime/tensor/device_array.h"

namespace mr {

struct ParameterState {
  Tensor parameter, mean, square;
  int64_t steps = 0;  // number of optimizer steps of this parameter, if it is on the CPU
  bool alone = true;  // false if another parameter shares the bytes of this parameter
  /// The object that defers the updates of rows without a gradient, or null. While it does, it holds the means and
  /// squares, and `mean` and `square` are undefined.
  std::shared_ptr<Deferred> deferred;
  /// If updates are not deferred: the object that delays the updates of rows without a gradient and replays them later,
  /// or null. Then `mean` and `square` may be stale until `settle` is called.
  std::shared_ptr<Replay> replay;
  bool all_touched = false;
  std::vector<uint8_t> is_touched;  // for every row of the parameter: 1 if it ever had a gradient, else 0
  int64_t touched_count = 0;
  /// Numbers of the rows that ever had a gradient, ascending, counted from 0. Computed on first use, and undefined
  /// again when another row gets its first gradient.
  Tensor touched;
  /// For every row of the parameter: the position of its gradient among the rows of the last sparse gradient, or -1. It
  /// is kept between steps, so that a step writes only the entries that change. On the GPU all entries are -1 between
  /// steps. `slots_set` stays true if a step ran out of memory before it reset them.
  Tensor slot;
  bool slots_set = false;
  std::vector<int64_t> in_slot;  // numbers of the rows in the last sparse gradient, counted from 0
};

struct OptimizerState {
  std::vector<ParameterState> parameters;
  /// On the GPU: the step count of every parameter, and the learning rates with bias correction that a kernel computes
  /// from it. They are on the GPU so that replays of recorded kernel launches (CUDA graphs) count as steps.
  Tensor steps;
  DeviceArray<AdamRate> rates;
};

template <>
inline constexpr const char* lua::class_name<OptimizerState> = "mr.OptimizerState";

}  // namespace mr
