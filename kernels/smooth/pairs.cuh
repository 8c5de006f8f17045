// Smooth ranks and their derivative on the GPU by sums over pairs: one launch for lists of any lengths. Lists below 32
// rows get eight lanes, below 128 a warp, others blocks. Row 128 b of the batch belongs to block b; so a list of n rows
// has at least n / 128 blocks, which share its targets and, where those are few, its sources. How a list is divided
// depends on its own size alone, and so do the bits of its results.
#pragma once

#include "kernels/device/scratch.h"
#include "kernels/smooth/list_pairs.cuh"

namespace mr::cuda {

constexpr int64_t short_list = 32, block_rows = 128, least_part = 1024;

/// Sums over parts of the sources, `block_rows` targets per block, and how many parts of each tile of targets are done.
struct PartialSums {
  PairValues* values;
  int* parts_done;
};

/// Lanes per target: all lanes are busy however few the targets of the list are.
template <int Lanes>
__device__ int lanes_per_target(int64_t targets) {
  int together = Lanes;
  while (together > 1 && Lanes / together < targets) together /= 2;
  return together;
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

/// One part of the sources for one tile of targets. The last block to finish adds the parts up, in order.
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
  if (lane == 0) last = atomicAdd(&partial.parts_done[first_block + task.tile], 1) == task.parts - 1;
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
__device__ void do_long(int64_t block, const Work& work, const uint8_t* done, const PartialSums& partial, double* sums,
                        Two<Real>* memory) {
  const int64_t list = find_list(work.lists, block * block_rows), n = work.lists.size(list);
  const int64_t first_block = (work.lists.begin(list) + block_rows - 1) / block_rows, mine = block - first_block;
  const int64_t targets = work.targets.size(list);
  const int blocks = static_cast<int>(n / block_rows);
  if (mine < 0 || mine >= blocks || (done != nullptr && done[list] != 0)) return;
  const PairLanes<pair_lanes> lanes(sums);
  const auto of = list_work<pair_lanes>(work, list, lanes, memory);
  const int tiles = static_cast<int>((targets + pair_lanes - 1) / pair_lanes), unit = static_cast<int>(mine);
  const int by_blocks = tiles == 0 ? 1 : blocks / tiles, by_rows = static_cast<int>(n / least_part);
  const int parts = by_blocks < by_rows ? by_blocks : by_rows;
  if (parts <= 1) {
    do_targets<pair_lanes>(of, targets, mine, blocks);
  } else if (unit < tiles * parts) {
    do_part(of, targets, {unit % tiles, unit / tiles, parts}, first_block, tiles, partial);
  }
  of.other_rows(mine * pair_lanes, int64_t{blocks} * pair_lanes);
}

/// A list by a warp or less.
template <int Lanes, class Work, class Real>
__device__ void do_list(int64_t first, const Work& work, const uint8_t* done, Two<Real>* memory) {
  const PairLanes<Lanes> lanes(nullptr);
  const int64_t list = first + lanes.group();
  if (list >= work.lists.count || (done != nullptr && done[list] != 0)) return;
  const int64_t n = work.lists.size(list);
  if (Lanes == warp ? n < short_list || n >= block_rows : n >= short_list) return;
  const auto of = list_work<Lanes>(work, list, lanes, memory);
  do_targets<Lanes>(of, work.targets.size(list), 0, 1);
  of.other_rows(0, Lanes);
}

/// Five blocks at once leave registers enough to spill none.
template <class Real, class Work>
__global__ void __launch_bounds__(pair_lanes, 5)
    run_pairs(int64_t long_blocks, int64_t warp_blocks, const uint8_t* done, const PartialSums partial,
              const Work work) {
  __shared__ double sums[2 * pair_lanes / warp];
  auto* const memory = shared_memory<Two<Real>>();
  const int64_t block = blockIdx.x;
  constexpr int few = 8;
  if (block < long_blocks) {
    do_long<Work, Real>(block, work, done, partial, sums, memory);
  } else if (block < long_blocks + warp_blocks) {
    do_list<warp>((block - long_blocks) * (pair_lanes / warp), work, done, memory);
  } else {
    do_list<few>((block - long_blocks - warp_blocks) * (pair_lanes / few), work, done, memory);
  }
}

/// The lists that are not `done` (null: none is).
template <class Real, int Weights, class Work>
void launch_pairs(int64_t count, const Work& work, const uint8_t* done) {
  const int64_t rows = work.scores.size, long_blocks = (rows + block_rows - 1) / block_rows;
  const int64_t warp_blocks = (count + 3) / 4, few_blocks = (count + 15) / 16;
  const int64_t blocks = long_blocks + warp_blocks + few_blocks;
  if (rows == 0) return;
  const bool parts = rows >= 2 * least_part;
  const Scratch<PairValues> values(parts ? long_blocks * pair_lanes : 0);
  const Scratch<int> parts_done(parts ? long_blocks : 0);
  gpu().fill_zero(parts_done.data(), parts ? long_blocks * static_cast<int64_t>(sizeof(int)) : 0);
  launch(&run_pairs<Real, Work>, blocks, pair_lanes, SourceTile<Real, Weights>::bytes, long_blocks, warp_blocks, done,
         {values.data(), parts_done.data()}, work);
}

template <class Real>
void ranks_by_pairs(int64_t count, const SmoothRank<Real>& work, const uint8_t* done) {
  launch_pairs<Real, 0>(count, work, done);
}

template <class Real>
void vjp_by_pairs(int64_t count, const SmoothRankVjp<Real>& work, const uint8_t* done) {
  launch_pairs<Real, 2>(count, work, done);
}

}  // namespace mr::cuda
