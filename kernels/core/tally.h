// What a pass over the data notes on its way, to be read once at its end: the sum of a loss, and where numbers were
// NaN.
#pragma once

#include <cstdint>

#include "kernels/core/atomic.h"
#include "kernels/core/view.h"

namespace mr {

/// total += factor value, in double.
template <class Real>
struct AddLoss {
  Span<const Real> value;
  double factor;
  double* total;
  MR_HD void operator()(int64_t) const { *total += factor * static_cast<double>(value[0]); }
};

/// *found = most - i for the first entry i that is NaN, of this or an earlier tensor; 0 stays where there is none.
template <class Real>
struct NoteNan {
  static constexpr int64_t most = int64_t{1} << 62;
  Span<const Real> values;
  int64_t* found;
  MR_HD void operator()(int64_t i) const {
    if (values[i] != values[i]) raise_to(found, most - i);
  }
};

}  // namespace mr
