// The state that an optimiser keeps of its parameters.
#pragma once

#include <vector>

#include "kernels/models/adam.h"
#include "runtime/lua/bind.h"
#include "runtime/models/deferred.h"
#include "runtime/tensor/device_array.h"

namespace mr {

struct ParameterState {
  Tensor parameter, mean, square;
  int64_t steps = 0;  // of a parameter on the CPU
  bool alone = true;  // nobody else moves its bytes here
  /// While steps of rows without a gradient are put off; `mean` and `square` are then as of the rows' own last steps.
  std::shared_ptr<Deferred> deferred;
  bool all_touched = false;
  /// Rows that ever had a gradient, ascending, counted from 0.
  std::vector<int64_t> touched;
  Tensor touched_there;
  std::vector<uint8_t> is_touched;  // by row
  /// For every row of the parameter, the row of the last gradient that belongs to it, or -1. Kept
  /// between steps, so that a step writes only what changes. On the GPU all are -1 between steps,
  /// unless a step ran out of memory: then `slots_set` stays true.
  Tensor slot;
  bool slots_set = false;
  std::vector<int64_t> in_slot;  // the rows of the last gradient, counted from 0
};

struct OptimizerState {
  std::vector<ParameterState> parameters;
  /// On the GPU, so that recorded launches count when they are replayed: steps of every parameter, and what they make
  /// of its rate.
  Tensor steps;
  DeviceArray<AdamRate> rates;
};

template <>
inline constexpr const char* lua::class_name<OptimizerState> = "mr.OptimizerState";

}  // namespace mr
