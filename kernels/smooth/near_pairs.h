// Smooth ranks and their derivatives for one list of scores that are spread widely, by the pairs near each other:
// rows are sorted, and all pairs further apart than a sigmoid can tell from 0 and 1 count as such. Each function does
// nothing and returns false where scores are not spread so widely, where too many of them lie close together, or where
// one is NaN.
#pragma once

#include <cstdint>

#include "kernels/smooth/smooth_rank.h"

namespace mr::cpu {

template <class Real>
bool near_ranks(const SmoothRank<Real>& work, int64_t list);
template <class Real>
bool near_vjp(const SmoothRankVjp<Real>& work, int64_t list);

}  // namespace mr::cpu
