// Multiplies the loss of each list by the slope of its bound. A bound rescales a metric; its slope is its derivative by
// the metric.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"
#include "kernels/core/view.h"

namespace mr {

/// Computes value * slope. It is 0 if the slope is 0, even if the value is infinite.
template <class Real>
struct TimesSlope {
  Span<const Real> value, slope;
  Span<Real> out;
  MR_HD void operator()(int64_t list) const { out[list] = slope[list] == 0 ? Real(0) : value[list] * slope[list]; }
};

}  // namespace mr
