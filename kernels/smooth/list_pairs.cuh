// Smooth ranks and their derivatives as sums over the pairs of one list, computed for the target rows of the list.
#pragma once

#include "kernels/smooth/pair_sums.cuh"

namespace mr::cuda {

/// Two sums at one target row (a row whose result is wanted), over all source rows or a part of them.
struct PairValues {
  double first, second;
};

/// A task computes a tile of target rows, one per lane, and adds up one part of the source rows (rows summed over).
/// 32-bit numbers suffice for the rows of a list.
struct PairTask {
  int tile, part, parts;

  __device__ int from(int64_t sources) const {
    const int n = static_cast<int>(sources), rest = n % parts;
    return n / parts * part + (part < rest ? part : rest);
  }
  __device__ int to(int64_t sources) const { return PairTask{tile, part + 1, parts}.from(sources); }
};

/// Returns the index of a row among the rows that are chosen from its list, or -1 if it is not chosen.
MR_HD inline int64_t slot_of(const Chosen& chosen, int64_t list, int64_t row) {
  // A null `rows` means that every row of each list is chosen, or that no row of any list is; then the size is 0.
  if (chosen.rows == nullptr) return row < chosen.size(list) ? row : -1;
  int64_t low = 0, high = chosen.size(list);
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (chosen(list, middle) < row) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low < chosen.size(list) && chosen(list, low) == row ? low : -1;
}

/// Computes smooth ranks of one list's target rows as sums over its source rows, and, if wanted, ranks among the
/// targets.
template <class Real, int Lanes>
struct ListRanks {
  static constexpr int weights = 0;
  const SmoothRank<Real>& w;
  int64_t list;
  const PairLanes<Lanes>& lanes;
  Two<Real>* memory;

  __device__ PairValues sums(const PairTask& task, int64_t slot, int together) const {
    const Real* const s = w.scores.data + w.lists.begin(list);
    const bool there = slot < w.targets.size(list);
    const PairTarget<Real> target{there ? s[w.targets(list, slot)] : Real(0), Real(0), there};
    const auto over = [&](const Chosen& sources) {
      const PairSum<RankTerms<Real>, Real, Lanes> sum(lanes, memory, {s, sources, list}, w.steepness);
      return sum(task.from(sources.size(list)), task.to(sources.size(list)), target, together);
    };
    const double rank = over(w.sources);
    return {rank, w.among.data != nullptr ? over(w.targets) : 0};
  }

  __device__ void finish(int64_t slot, const PairValues& sums) const {
    // True if the target is one of its sources: then its own term sigma(0) = 1/2 is subtracted from the rank.
    const bool own = w.sources == w.targets || slot_of(w.sources, list, w.targets(list, slot)) >= 0;
    const int64_t at = w.targets.begin(list) + slot;
    w.ranks[at] = static_cast<Real>((own ? 0.5 : 1) + sums.first);
    if (w.among.data != nullptr) w.among[at] = static_cast<Real>(0.5 + sums.second);
  }

  __device__ void other_rows(int64_t, int64_t) const {}
};

template <class Real, int Lanes>
struct ListDerivatives {
  static constexpr int weights = 2;
  const SmoothRankVjp<Real>& w;
  int64_t list;
  const PairLanes<Lanes>& lanes;
  Two<Real>* memory;

  template <class Terms>
  __device__ double over(const PairSources<Real>& sources, const PairTask& task, const PairTarget<Real>& target,
                         int together) const {
    const PairSum<Terms, Real, Lanes> sum(lanes, memory, sources, w.steepness);
    const int64_t n = sources.rows.size(list);
    return sum(task.from(n), task.to(n), target, together);
  }

  __device__ const Real* scores() const { return w.scores.data + w.lists.begin(list); }
  __device__ PairSources<Real> targets() const { return {scores(), w.targets, list, w.g.data, w.h.data}; }

  /// Computes the sums for the derivative by the score of target row k: sum_i (g_i + h_i - h_k) k_ik over the target
  /// rows i, minus g_k sum_j k_jk over all rows j. k_ij is the derivative of sigma at the score difference; g and h
  /// are the upstream derivatives by ranks and by ranks among targets.
  __device__ PairValues sums(const PairTask& task, int64_t slot, int together) const {
    const bool there = slot < w.targets.size(list);
    const int64_t at = w.targets.begin(list) + slot;
    const PairTarget<Real> target{there ? scores()[w.targets(list, slot)] : Real(0),
                                  there && w.h.data != nullptr ? w.h[at] : Real(0), there};
    const double by_targets = w.h.data != nullptr ? over<KernelTerms<Real, 2>>(targets(), task, target, together)
                                                  : over<KernelTerms<Real, 1>>(targets(), task, target, together);
    const double by_rows = over<KernelTerms<Real, 1>>({scores(), {w.lists, nullptr}, list}, task, target, together);
    return {by_targets - (there ? w.g[at] * by_rows : 0), 0};
  }

  __device__ void finish(int64_t slot, const PairValues& sums) const {
    w.out[w.lists.begin(list) + w.targets(list, slot)] = static_cast<Real>(w.steepness * sums.first);
  }

  /// Computes the derivative by the scores of rows that are not targets, from row `first` on, one row per lane: for
  /// row j the sum of g_i k_ij over the target rows i. k_ij is the derivative of sigma at the score difference; g_i is
  /// the upstream derivative by the rank.
  __device__ void other_rows(int64_t first, int64_t step) const {
    const int64_t n = w.lists.size(list);
    if (w.targets.size(list) == n) return;
    for (int64_t from = first; from < n; from += step) {
      const int64_t row = from + lanes.lane();
      const bool there = row < n && slot_of(w.targets, list, row) < 0;
      const double sum =
          over<KernelTerms<Real, 1>>(targets(), {0, 0, 1}, {there ? scores()[row] : Real(0), 0, there}, 1);
      if (there) w.out[w.lists.begin(list) + row] = static_cast<Real>(w.steepness * sum);
    }
  }
};

template <int Lanes, class Real>
__device__ ListRanks<Real, Lanes> list_work(const SmoothRank<Real>& work, int64_t list, const PairLanes<Lanes>& lanes,
                                            Two<Real>* memory) {
  return {work, list, lanes, memory};
}
template <int Lanes, class Real>
__device__ ListDerivatives<Real, Lanes> list_work(const SmoothRankVjp<Real>& work, int64_t list,
                                                  const PairLanes<Lanes>& lanes, Two<Real>* memory) {
  return {work, list, lanes, memory};
}

}  // namespace mr::cuda
