// Affine bounds: the bounded value of a list is a slope times its metric plus an offset, made of what is known of the
// metric over all rankings of the list. affine.cpp has them all, each in one place.
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
  Needs needs;  // of the statistics
  Line (*line)(const BoundStats&);
  const char *formula, *source, *text;  // what `moonrank doc` prints
};

const std::vector<AffineBound>& affine_bounds();

template <>
inline constexpr const char* lua::class_name<AffineBound> = "mr.AffineBound";

}  // namespace mr
