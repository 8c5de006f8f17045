// The CPU's smooth ranks and their derivatives by sums over all pairs. They are the reference for the faster sums by
// boxes (box_ranks.h).
#pragma once

#include "kernels/smooth/smooth_rank.h"

namespace mr::cpu {

template <class Real>
void ranks_by_pairs(int64_t count, const SmoothRank<Real>& work);
template <class Real>
void vjp_by_pairs(int64_t count, const SmoothRankVjp<Real>& work);

}  // namespace mr::cpu
