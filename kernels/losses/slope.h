// A list's loss times the slope of its bound; derivatives by its scores times what the loss is worth.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"
#include "kernels/core/view.h"

namespace mr {

/// Their product; 0 where the slope is, also of an infinite loss or derivative.
template <class Real>
struct TimesSlope {
  Span<const Real> value, slope;
  Span<Real> out;
  MR_HD void operator()(int64_t list) const { out[list] = slope[list] == 0 ? Real(0) : value[list] * slope[list]; }
};

}  // namespace mr
