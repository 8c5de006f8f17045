// Smooth ranks and their derivatives for one list with widely spread scores. Rows are sorted, and sigmoids are computed
// only for pairs of rows with near scores; for all other pairs a sigmoid is 0 or 1 to rounding. Each function does
// nothing and returns false if scores are not spread widely enough, if too many scores are close together, or if a
// score is NaN.
#pragma once

#include <cstdint>

#include "kernels/smooth/smooth_rank.h"

namespace mr::cpu {

template <class Real>
bool near_ranks(const SmoothRank<Real>& work, int64_t list);
template <class Real>
bool near_vjp(const SmoothRankVjp<Real>& work, int64_t list);

}  // namespace mr::cpu
