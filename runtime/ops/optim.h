// What an optimiser remembers of one parameter.
#pragma once

#include <vector>

#include "runtime/lua/bind.h"

namespace mr {

struct OptimizerState {
  Tensor mean, square;
  int64_t steps = 0;
  bool all_touched = false;
  std::vector<int64_t> touched;  // rows that ever had a gradient, ascending, counted from 0
};

template <>
inline constexpr const char* lua::class_name<OptimizerState> = "mr.OptimizerState";

}  // namespace mr
