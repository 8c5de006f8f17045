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
  /// The object that defers the updates, or null. While updates are deferred, `mean` and `square` are those of each
  /// row's own last update.
  std::shared_ptr<Deferred> deferred;
  /// The object that delays the updates of rows without a gradient if `deferred` does not, or null. Then `mean` and
  /// `square` may be stale until it has applied them (`settle`).
  std::shared_ptr<Replay> replay;
  bool all_touched = false;
  std::vector<uint8_t> is_touched;  // for every row of the parameter: 1 if it ever had a gradient, else 0
  int64_t touched_count = 0;
  /// Numbers of the rows that ever had a gradient, ascending, from 0; made when needed; undefined when more rows had
  /// one.
  Tensor touched;
  /// For every row of the parameter, its row in the last gradient, or -1. Kept between steps, so that a step writes
  /// only changed entries. On the GPU all are -1 between steps, unless a step ran out of memory: then `slots_set` stays
  /// true.
  Tensor slot;
  bool slots_set = false;
  std::vector<int64_t> in_slot;  // numbers of the rows of the last gradient, from 0
};

struct OptimizerState {
  std::vector<ParameterState> parameters;
  /// On the GPU, so that launches that run again count, too: the step counts of all parameters, and the rates computed
  /// from them.
  Tensor steps;
  DeviceArray<AdamRate> rates;
};

template <>
inline constexpr const char* lua::class_name<OptimizerState> = "mr.OptimizerState";

}  // namespace mr
