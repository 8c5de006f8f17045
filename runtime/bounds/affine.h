// Affine bounds rescale the metric M of a list, which a loss optimizes, to slope * M + offset. Slope and offset come
// from statistics of the metric over all rankings of the list. affine.cpp defines all affine bounds.
#pragma once

#include <string>
#include <vector>

#include "kernels/bounds/bounds.h"
#include "runtime/lua/bind.h"

namespace mr {

struct Line {
  double slope, offset;
};

struct AffineBound {
  enum Needs : int8_t { nothing, range, mean, variance };

  const char* name;
  Needs needs;  // the statistics of the metric from which slope and offset are computed
  Line (*line)(const BoundStats&);
  const char *formula, *source, *text;  // descriptions of the bound, which `moonrank doc` prints
};

const std::vector<AffineBound>& affine_bounds();

template <>
inline constexpr const char* lua::class_name<AffineBound> = "mr.AffineBound";

}  // namespace mr
