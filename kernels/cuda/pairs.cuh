// Smooth ranks and their derivative on the GPU by sums over pairs: one launch for lists of any lengths. Lists below 32
// rows get eight lanes, below 128 a warp, others blocks. Row 128 b of the batch belongs to block b; so a list of n rows
// has at least n / 128 blocks, which share its targets and, where those are few, its sources. How a list is divided
// depends on its own size alone, and so do the bits of its results.
#pragma once

#include "kernels/cuda/pair_lanes.cuh"
#include "kernels/cuda/scratch.h"

namespace mr::cuda {

constexpr int64_t short_list = 32, block_rows = 128, least_part = 1024;

/// What a target's sums are, or the part of them that some of the sources make.
struct PairValues {
  double first, second;
};

/// Sums over parts of the sources, `block_rows` targets per block, and how many parts of a target's are done.
struct PartialSums {
  PairValues* values;
  int* done;
};

/// Which targets (block_rows at a time) and which part of the sources. Numbers of 32 bits: a list has fewer rows.
struct PairTask {
  int tile, part, parts;

  __device__ int from(int64_t sources) const {
    const int n = static_cast<int>(sources), rest = n % parts;
    return n / parts * part + (part < rest ? part : rest);
  }
  __device__ int to(int64_t sources) const { return PairTask{tile, part + 1, parts}.from(sources); }
};

/// Lanes per target: all lanes are busy however few the targets of the list are.
template <int Lanes>
__device__ int lanes_per_target(int64_t targets) {
  int together = Lanes;
  while (together > 1 && Lanes / together < targets) together /= 2;
  return together;
}

/// Whether a row is among those chosen from its list.
__device__ inline int64_t slot_of(const Chosen& chosen, int64_t list, int64_t row) {
  if (chosen.rows == nullptr) return row;
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

/// Ranks of one list's targets, and ranks among them.
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
      const PairSum<RankTerms<Real>, Real, Lanes> sum(lanes, memory, {s, sources, list}, w.gain);
      return sum(task.from(sources.size(list)), task.to(sources.size(list)), target, together);
    };
    const double rank = over(w.sources);
    return {rank, w.among.data != nullptr ? over(w.targets) : 0};
  }

  __device__ void finish(int64_t slot, const PairValues& sums) const {
    const bool same = w.sources.rows == w.targets.rows && w.sources.lists.offsets == w.targets.lists.offsets;
    const bool own = same || slot_of(w.sources, list, w.targets(list, slot)) >= 0;  // its own sigma(0) is 1/2
    const int64_t at = w.targets.begin(list) + slot;
    w.ranks[at] = static_cast<Real>((own ? 0.5 : 1) + sums.first);
    if (w.among.data != nullptr) w.among[at] = static_cast<Real>(0.5 + sums.second);
  }

  __device__ void other_rows(int64_t, int64_t) const {}
};

/// Derivatives of one list.
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
    const PairSum<Terms, Real, Lanes> sum(lanes, memory, sources, w.gain);
    const int64_t n = sources.rows.size(list);
    return sum(task.from(n), task.to(n), target, together);
  }

  __device__ const Real* scores() const { return w.scores.data + w.lists.begin(list); }
  __device__ PairSources<Real> targets() const { return {scores(), w.targets, list, w.g.data, w.h.data}; }

  /// Of a target k: sum_i (g_i + h_i - h_k) k_ik over the targets, - g_k sum_j k_jk over all rows.
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
    w.out[w.lists.begin(list) + w.targets(list, slot)] = static_cast<Real>(w.gain * sums.first);
  }

  /// Of the rows from first on that are no targets, one per lane: sum_i g_i k_i over the targets.
  __device__ void other_rows(int64_t first, int64_t step) const {
    const int64_t n = w.lists.size(list);
    if (w.targets.size(list) == n) return;
    for (int64_t from = first; from < n; from += step) {
      const int64_t row = from + lanes.lane();
      const bool there = row < n && slot_of(w.targets, list, row) < 0;
      const double sum =
          over<KernelTerms<Real, 1>>(targets(), {0, 0, 1}, {there ? scores()[row] : Real(0), 0, there}, 1);
      if (there) w.out[w.lists.begin(list) + row] = static_cast<Real>(w.gain * sum);
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

/// Targets of the list `Lanes` at a time, beginning with the given tile, by all sources.
template <int Lanes, class List>
__device__ void do_targets(const List& list, int64_t count, int64_t tile, int64_t tiles_apart) {
  const int together = lanes_per_target<Lanes>(count);
  for (; tile * Lanes < count; tile += tiles_apart) {
    const int64_t slot = tile * Lanes + list.lanes.lane() / together;
    const PairValues sums = list.sums({static_cast<int>(tile), 0, 1}, slot, together);
    if (list.lanes.lane() % together == 0 && slot < count) list.finish(slot, sums);
  }
}

/// One part of the sources for one tile of targets. The block that is last to be done adds the parts up, in order.
template <class List>
__device__ void do_part(const List& list, int64_t count, const PairTask& task, int64_t first_block, int64_t tiles,
                        const PartialSums& partial) {
  __shared__ bool last;
  const int together = lanes_per_target<pair_lanes>(count), lane = list.lanes.lane();
  const int64_t slot = int64_t{task.tile} * pair_lanes + lane / together;
  const PairValues sums = list.sums(task, slot, together);
  const auto of_part = [&](int part) { return partial.values + (first_block + part * tiles + task.tile) * pair_lanes; };
  if (lane % together == 0) of_part(task.part)[lane / together] = sums;
  __threadfence();
  list.lanes.sync();
  if (lane == 0) last = atomicAdd(&partial.done[first_block + task.tile], 1) == task.parts - 1;
  list.lanes.sync();
  const int64_t mine = int64_t{task.tile} * pair_lanes + lane;
  if (!last || mine >= count) return;
  __threadfence();
  PairValues total{0, 0};
  for (int part = 0; part < task.parts; ++part) {
    const volatile PairValues& of = of_part(part)[lane];
    total = {total.first + of.first, total.second + of.second};
  }
  list.finish(mine, total);
}

/// The list that a row of the batch is in, found by a warp.
__device__ inline int64_t find_list(const Ragged& lists, int64_t row) {
  int64_t low = 0, size = lists.count;
  while (size > 1) {
    const int64_t step = (size + warp - 1) / warp, probe = low + (threadIdx.x % warp) * step;
    const bool before = probe < low + size && lists.begin(probe) <= row;
    const int64_t found = __popc(__ballot_sync(all_lanes, before)) - 1, rest = size - found * step;
    low += found * step;
    size = step < rest ? step : rest;
  }
  return low;
}

/// The part of a long list that block b does.
template <class Work, class Real>
__device__ void do_long(int64_t block, const Work& work, const PartialSums& partial, double* sums, Two<Real>* memory) {
  const int64_t list = find_list(work.lists, block * block_rows), n = work.lists.size(list);
  const int64_t first_block = (work.lists.begin(list) + block_rows - 1) / block_rows, mine = block - first_block;
  const int64_t targets = work.targets.size(list);
  const int blocks = static_cast<int>(n / block_rows);
  if (mine < 0 || mine >= blocks) return;
  const PairLanes<pair_lanes> lanes(sums);
  const auto of = list_work<pair_lanes>(work, list, lanes, memory);
  const int tiles = static_cast<int>((targets + pair_lanes - 1) / pair_lanes), place = static_cast<int>(mine);
  const int by_blocks = tiles == 0 ? 1 : blocks / tiles, by_rows = static_cast<int>(n / least_part);
  const int parts = by_blocks < by_rows ? by_blocks : by_rows;
  if (parts <= 1) {
    do_targets<pair_lanes>(of, targets, mine, blocks);
  } else if (place < tiles * parts) {
    do_part(of, targets, {place % tiles, place / tiles, parts}, first_block, tiles, partial);
  }
  of.other_rows(mine * pair_lanes, int64_t{blocks} * pair_lanes);
}

/// A list by a warp or less.
template <int Lanes, class Work, class Real>
__device__ void do_list(int64_t first, const Work& work, Two<Real>* memory) {
  const PairLanes<Lanes> lanes(nullptr);
  const int64_t list = first + lanes.group();
  if (list >= work.lists.count) return;
  const int64_t n = work.lists.size(list);
  if (Lanes == warp ? n < short_list || n >= block_rows : n >= short_list) return;
  const auto of = list_work<Lanes>(work, list, lanes, memory);
  do_targets<Lanes>(of, work.targets.size(list), 0, 1);
  of.other_rows(0, Lanes);
}

/// Five blocks at once leave registers enough to spill none.
template <class Real, class Work>
__global__ void __launch_bounds__(pair_lanes, 5)
    run_pairs(int64_t long_blocks, int64_t warp_blocks, const PartialSums partial, const Work work) {
  __shared__ double sums[2 * pair_lanes / warp];
  auto* const memory = shared_memory<Two<Real>>();
  const int64_t block = blockIdx.x;
  constexpr int few = 8;
  if (block < long_blocks) {
    do_long<Work, Real>(block, work, partial, sums, memory);
  } else if (block < long_blocks + warp_blocks) {
    do_list<warp>((block - long_blocks) * (pair_lanes / warp), work, memory);
  } else {
    do_list<few>((block - long_blocks - warp_blocks) * (pair_lanes / few), work, memory);
  }
}

template <class Real, int Weights, class Work>
void launch_pairs(int64_t count, const Work& work) {
  const int64_t rows = work.scores.size, long_blocks = (rows + block_rows - 1) / block_rows;
  const int64_t warp_blocks = (count + 3) / 4, few_blocks = (count + 15) / 16;
  const int64_t blocks = long_blocks + warp_blocks + few_blocks;
  if (rows == 0) return;
  const bool parts = rows >= 2 * least_part;
  const Scratch<PairValues> values(parts ? long_blocks * pair_lanes : 0);
  const Scratch<int> done(parts ? long_blocks : 0);
  fill_zero(done.data(), parts ? long_blocks * static_cast<int64_t>(sizeof(int)) : 0);
  launch(&run_pairs<Real, Work>, blocks, pair_lanes, SourceTile<Real, Weights>::bytes, long_blocks, warp_blocks,
         {values.data(), done.data()}, work);
}

template <class Real>
void ranks_by_pairs(int64_t count, const SmoothRank<Real>& work) {
  launch_pairs<Real, 0>(count, work);
}

template <class Real>
void vjp_by_pairs(int64_t count, const SmoothRankVjp<Real>& work) {
  launch_pairs<Real, 2>(count, work);
}

}  // namespace mr::cuda
