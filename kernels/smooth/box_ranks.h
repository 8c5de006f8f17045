// Smooth ranks and their derivative for one list by boxes (box.h), and when that is the cheaper way.
#pragma once

#include "kernels/smooth/box.h"
#include "kernels/smooth/smooth_rank.h"

namespace mr::cpu {

/// The work for one list, for which `prefer_boxes` or `box_fits` holds. Called from outside of any task, a long list
/// keeps every thread busy.
template <class Real>
void box_ranks(const SmoothRank<Real>& work, int64_t list, const BoxLoops<Real>& loops = box_loops<Real>());
template <class Real>
void box_vjp(const SmoothRankVjp<Real>& work, int64_t list, const BoxLoops<Real>& loops = box_loops<Real>());

/// Whether the list can be done by boxes: targets and sources are the same rows, or one of them is every row, and no
/// score is so large that its place in a box would be lost without its being far from all others.
template <class Real>
bool box_fits(const SmoothRank<Real>& work, int64_t list);
template <class Real>
bool box_fits(const SmoothRankVjp<Real>& work, int64_t list);

/// Whether boxes are expected to be faster than the sums over all pairs, and fit.
template <class Real>
bool prefer_boxes(const SmoothRank<Real>& work, int64_t list);
template <class Real>
bool prefer_boxes(const SmoothRankVjp<Real>& work, int64_t list);

}  // namespace mr::cpu
