// Smooth ranks and their derivative on the GPU by sums over pairs of rows, in one launch for lists of any lengths. A
// list below 32 rows is computed by eight lanes (threads), below 128 rows by a warp, and a longer list by blocks. The
// block with number b works on the list that row 128 b of the batch belongs to, so a list of n rows gets about n / 128
// blocks. These blocks divide the list's targets (rows ranked) and, if targets are few, its sources (rows summed over).
// How a list is divided depends only on its own size, so its results have the same bits in every batch.
#pragma once

#include "kernels/device/scratch.h"
#include "kernels/smooth/list_pairs.cuh"

namespace mr::cuda {

constexpr int64_t short_list = 32, block_rows = 128, least_part = 1024;

/// Memory for long lists whose source rows are divided among blocks. `values` has for each block the sums of
/// `block_rows` targets over one part of the sources. `parts_done` counts, for each tile of targets, the parts that are
/// finished.
struct PartialSums {
  PairValues* values;
  int* parts_done;
};

/// Returns how many lanes share one target (row ranked), a power of 2. If a list has fewer targets than lanes, several
/// lanes share each target, so that no lane is idle.
template <int Lanes>
__device__ int lanes_per_target(int64_t targets) {
  int together = Lanes;
  while (together > 1 && Lanes / together < targets) together /= 2;
  return together;
}

/// Computes targets (rows ranked) of a list over all of its sources, for the tiles `tile`, `tile` + `tiles_apart` and
/// so on. A tile has `Lanes` targets.
template <int Lanes, class List>
__device__ void do_targets(const List& list, int64_t count, int64_t tile, int64_t tiles_apart) {
  const int together = lanes_per_target<Lanes>(count);
  for (; tile * Lanes < count; tile += tiles_apart) {
    const int64_t slot = tile * Lanes + list.lanes.lane() / together;
    const PairValues sums = list.sums({static_cast<int>(tile), 0, 1}, slot, together);
    if (list.lanes.lane() % together == 0 && slot < count) list.finish(slot, sums);
  }
}

/// Sums over one part of a list's source rows for one tile of its targets. The last block that finishes a part of this
/// tile adds up the parts in order, so that the result does not depend on timing.
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

/// Returns the list that a row of the batch belongs to. The lanes of a warp search together.
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

/// Computes the share of a long list that belongs to this block of the GPU.
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

/// Computes a short list with one warp, or with fewer lanes.
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

/// The launch bound asks for five blocks per multiprocessor. Each thread then has enough registers, and none are
/// spilled to memory.
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

/// Computes the lists whose flag in `done` is 0, or all lists if `done` is null.
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
