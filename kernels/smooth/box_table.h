// Sums of sigma(x_j - x_i) and of its derivative over the rows j of a list, at its rows i, in time near linear in the
// rows: what both processors share. Scores are put into boxes of one width. Neither kernel has a singularity nearer to
// the real axis than pi, so a two-dimensional Chebyshev expansion between two boxes converges at the same rate for all
// of them, neighbours and the same box included.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/hd.h"
#include "kernels/core/logarithms.h"

namespace mr {

/// Width of a box in units of gain x score, and terms of an expansion: the error of a kernel is rho^-terms, with rho =
/// 2 pi / width + sqrt(1 + (2 pi / width)^2): 5e-8 for float, 1e-15 for double. Boxes whose scores differ by more than
/// `cutoff` + ln(rows) take sigma to be 0 or 1 and k to be 0.
template <class Real>
struct BoxShape {
  static constexpr bool single = sizeof(Real) == 4;
  static constexpr double width = single ? 2 : 1.5, cutoff = single ? 17 : 34;
  static constexpr int terms = single ? 9 : 16;
  static constexpr int padded = 16;     // terms, filled up with zeros to whole vectors
  static constexpr int max_reach = 40;  // boxes to either side, enough for 2^31 rows

  /// Boxes further away than that count as infinitely far, in a list of so many rows.
  static MR_HD int64_t reach(int64_t rows) {
    return static_cast<int64_t>(std::ceil((portable::log(static_cast<double>(rows)) + cutoff) / width)) + 1;
  }
};

/// Chebyshev coefficients of a kernel between boxes.
template <class Real>
class BoxTable {
 public:
  enum Kernel { sigma, derivative };

  /// Block 0; others lie `block` entries apart, for -max_reach .. max_reach. Made at the first call.
  static const Real* of(Kernel kernel);

  static constexpr int64_t block = int64_t{BoxShape<Real>::terms} * BoxShape<Real>::padded;
};

}  // namespace mr
