// Smooth ranks and their derivatives for one list by boxes of scores (box.h), and the estimate whether boxes are faster
// than sums over all pairs.
#pragma once

#include "kernels/smooth/boxes/box.h"
#include "kernels/smooth/smooth_rank.h"

namespace mr::cpu {

/// Compute the smooth ranks or derivatives of one list for which `prefer_boxes` or `box_fits` is true. A call from
/// outside of a task uses all threads for a long list.
template <class Real>
void box_ranks(const SmoothRank<Real>& work, int64_t list, const BoxLoops<Real>& loops = box_loops<Real>());
template <class Real>
void box_vjp(const SmoothRankVjp<Real>& work, int64_t list, const BoxLoops<Real>& loops = box_loops<Real>());

/// Returns true if a list can be computed by boxes (intervals of scores). Targets (rows ranked) and sources (rows
/// summed over) must be the same rows, or one of the two the whole list. Each score must be so small that rounding is
/// small against a box, or so large that sigmoids of differences are 0 or 1.
template <class Real>
bool box_fits(const SmoothRank<Real>& work, int64_t list);
template <class Real>
bool box_fits(const SmoothRankVjp<Real>& work, int64_t list);

/// Returns true if boxes can be used for a list and are expected to be faster than sums over all pairs.
template <class Real>
bool prefer_boxes(const SmoothRank<Real>& work, int64_t list);
template <class Real>
bool prefer_boxes(const SmoothRankVjp<Real>& work, int64_t list);

}  // namespace mr::cpu
