// Smooth ranks and their derivatives on the GPU by boxes of scores (boxes.cuh), and the choice of the lists that are
// summed by boxes rather than over all pairs.
#pragma once

#include "kernels/smooth/boxes/boxes.cuh"
#include "kernels/smooth/ranks_by_pairs.cuh"

namespace mr::cuda {

/// Computes smooth ranks by boxes, as sums over the source rows for each target row; with two weights, also ranks
/// among the targets. If only the sources or only the targets are all rows of the list, the other set's rows are the
/// marked ones.
template <class Real, int Weights>
struct BoxedRanks {
  using Number = Real;
  static constexpr int weights = Weights;
  SmoothRank<Real> of;
  Ragged lists = of.lists;

  MR_HD const Real* scores() const { return of.scores.data; }
  MR_HD double steepness() const { return of.steepness; }
  int64_t rows() const { return of.scores.size; }
  MR_HD const Chosen& marked() const { return of.sources.rows == nullptr ? of.targets : of.sources; }
  MR_HD bool boxes_can(int64_t) const {
    return of.sources.rows == nullptr || of.sources == of.targets ||
           (of.targets.rows == nullptr && of.among.data == nullptr);
  }
  MR_HD int64_t pairs(int64_t list) const {
    const int64_t targets = of.targets.size(list);
    return targets * (of.sources.size(list) + (Weights == 2 ? targets : 0));
  }

  MR_HD bool is_source(int64_t slot) const { return of.sources.rows == nullptr || slot >= 0; }
  MR_HD Real weight(int which, int64_t, int64_t slot) const {
    return (which == 0 ? is_source(slot) : slot >= 0) ? 1 : 0;
  }
  MR_HD void write(int64_t list, int64_t row, int64_t slot, const Real* sums) const {
    const int64_t target = of.targets.rows == nullptr ? row - lists.begin(list) : slot;
    if (target < 0) return;
    const int64_t at = of.targets.begin(list) + target;
    of.ranks[at] = static_cast<Real>((is_source(slot) ? 0.5 : 1) + sums[0]);
    if constexpr (Weights == 2) of.among[at] = static_cast<Real>(0.5 + sums[1]);
  }
};

/// Computes derivatives of smooth ranks by boxes. Rows have two or four weights. 0: g, the upstream derivative by the
/// rank, for target rows, else 0. 1: 1 for all rows. 2: g + h for target rows, with h the upstream derivative by the
/// rank among targets. 3: 1 for target rows.
template <class Real, int Weights>
struct BoxedDerivatives {
  using Number = Real;
  static constexpr int weights = Weights;
  SmoothRankVjp<Real> of;
  Ragged lists = of.lists;

  MR_HD const Real* scores() const { return of.scores.data; }
  MR_HD double steepness() const { return of.steepness; }
  int64_t rows() const { return of.scores.size; }
  MR_HD const Chosen& marked() const { return of.targets; }
  MR_HD bool boxes_can(int64_t) const { return true; }
  MR_HD int64_t pairs(int64_t list) const { return of.targets.size(list) * lists.size(list); }

  MR_HD Real weight(int which, int64_t row, int64_t slot) const {
    if (which == 1) return 1;
    if (slot < 0) return 0;
    const int64_t at = of.targets.begin(list_of(lists, row)) + slot;
    return which == 0 ? of.g[at] : which == 2 ? of.g[at] + of.h[at] : Real(1);
  }
  MR_HD void write(int64_t list, int64_t row, int64_t slot, const Real* sums) const {
    double total = sums[0];
    if (slot >= 0) {
      const int64_t at = of.targets.begin(list) + slot;
      if constexpr (Weights == 4) total = sums[2] - static_cast<double>(of.h[at]) * sums[3];
      total -= static_cast<double>(of.g[at]) * sums[1];
    }
    of.out[row] = static_cast<Real>(steepness() * total);
  }
};

/// Returns true if a list of at most `longest` rows can have `least` or more pairs.
inline bool may_have_pairs(int64_t longest, int64_t least) {
  return 2 * static_cast<double>(longest) * static_cast<double>(longest) >= static_cast<double>(least);
}

template <class Real>
void smooth_rank(int64_t count, const SmoothRank<Real>& work, int64_t least_pairs) {
  if (!may_have_pairs(work.longest, least_pairs)) return ranks_by_pairs(count, work, nullptr);
  const Scratch<uint8_t> done(count);
  if (work.among.data != nullptr) {
    by_boxes(count, BoxedRanks<Real, 2>{work}, true, least_pairs, done.data());
  } else {
    by_boxes(count, BoxedRanks<Real, 1>{work}, true, least_pairs, done.data());
  }
  ranks_by_pairs(count, work, done.data());
}

template <class Real>
void smooth_rank_vjp(int64_t count, const SmoothRankVjp<Real>& work, int64_t least_pairs) {
  if (!may_have_pairs(work.longest, least_pairs)) return vjp_by_pairs(count, work, nullptr);
  const Scratch<uint8_t> done(count);
  if (work.h.data != nullptr) {
    by_boxes(count, BoxedDerivatives<Real, 4>{work}, false, least_pairs, done.data());
  } else {
    by_boxes(count, BoxedDerivatives<Real, 2>{work}, false, least_pairs, done.data());
  }
  vjp_by_pairs(count, work, done.data());
}

}  // namespace mr::cuda
