// Smooth ranks and their derivative for one list by boxes (box.h), and when that is faster.
#pragma once

#include "kernels/smooth/box.h"
#include "kernels/smooth/smooth_rank.h"

namespace mr::cpu {

/// The work for one list, for which `prefer_boxes` or `box_fits` holds. Called from outside of any task, a long list
/// uses all threads.
template <class Real>
void box_ranks(const SmoothRank<Real>& work, int64_t list, const BoxLoops<Real>& loops = box_loops<Real>());
template <class Real>
void box_vjp(const SmoothRankVjp<Real>& work, int64_t list, const BoxLoops<Real>& loops = box_loops<Real>());

/// True if the list can be summed by boxes: targets and sources are the same rows, or one of them is every row, and
/// every score is either small enough to have an exact position in its box or far from all others.
template <class Real>
bool box_fits(const SmoothRank<Real>& work, int64_t list);
template <class Real>
bool box_fits(const SmoothRankVjp<Real>& work, int64_t list);

/// True if boxes fit and are expected to be faster than sums over all pairs.
template <class Real>
bool prefer_boxes(const SmoothRank<Real>& work, int64_t list);
template <class Real>
bool prefer_boxes(const SmoothRankVjp<Real>& work, int64_t list);

}  // namespace mr::cpu
