// Tables for sums of sigma(x_j - x_i) and of its derivative over the rows j of a list, at its rows i, in time near
// linear in the number of rows. CPU and GPU use the tables. Scores are put into boxes of one width. Sigma and its
// derivative have no singularity nearer to the real axis than pi. So a two-dimensional Chebyshev expansion between two
// boxes converges at the same rate for all pairs of boxes, including neighbours and a box with itself.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/hd.h"
#include "kernels/core/logarithms.h"

namespace mr {

/// Size of boxes (intervals of scores) and of Chebyshev expansions. `width` is in units of steepness x score. The
/// error of an expansion with `terms` terms is rho^-terms with rho = 2 pi / width + sqrt(1 + (2 pi / width)^2): 5e-8
/// for float, 1e-15 for double. If the scores of two boxes differ by more than `cutoff` + ln(rows), their sigmoid
/// counts as 0 or 1 and its derivative as 0.
template <class Real>
struct BoxShape {
  static constexpr bool single = sizeof(Real) == 4;
  static constexpr double width = single ? 2 : 1.5, cutoff = single ? 17 : 34;
  static constexpr int terms = single ? 9 : 16;
  static constexpr int padded = 16;     // number of Chebyshev terms, padded to whole vectors
  static constexpr int max_reach = 40;  // largest number of boxes within reach on either side of a box

  /// Returns the reach of a box in a list of `rows` rows. If the numbers of two boxes differ by more than the reach,
  /// their scores count as infinitely far apart: the sigmoid of the difference is 0 or 1.
  static MR_HD int64_t reach(int64_t rows) {
    return static_cast<int64_t>(std::ceil((portable::log(static_cast<double>(rows)) + cutoff) / width)) + 1;
  }
};

/// Chebyshev coefficients of a kernel, sigma or its derivative, for two boxes of scores.
template <class Real>
class BoxTable {
 public:
  enum Kernel { sigma, derivative };

  /// Returns a pointer to block 0, the coefficients for a box and itself. Block d is at offset d * `block`, for |d| <=
  /// max_reach. Computed at the first call.
  static const Real* of(Kernel kernel);

  static constexpr int64_t block = int64_t{BoxShape<Real>::terms} * BoxShape<Real>::padded;
};

}  // namespace mr
