// What an optimiser remembers of one parameter.
#pragma once

#include <vector>

#include "runtime/lua/bind.h"

namespace mr {

struct OptimizerState {
  Tensor mean, square;
  int64_t steps = 0;
  bool all_touched = false;
  /// Rows that ever had a gradient, ascending, counted from 0; on the parameter's device where defined.
  std::vector<int64_t> touched;
  Tensor touched_there;
  std::vector<uint8_t> is_touched;  // by row
  /// Of every row: which row of the last gradient belongs to it, or -1. Kept, so that a step writes only what changes.
  Tensor slot;
  std::vector<int64_t> in_slot;  // the rows of the last gradient, counted from 0
};

template <>
inline constexpr const char* lua::class_name<OptimizerState> = "mr.OptimizerState";

}  // namespace mr
