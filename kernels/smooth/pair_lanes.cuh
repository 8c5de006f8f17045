// GPU threads (lanes) that together compute the smooth ranks of one list as sums over pairs of its rows. The lanes
// belong to one warp or to one block. Each target row (a row that is ranked) has one lane, or several lanes that divide
// the rows summed over.
#pragma once

#include <cstdint>

#include "kernels/device/grid.cuh"

namespace mr::cuda {

constexpr int pair_lanes = 128;  // number of lanes (threads) of a GPU block

struct ScoreRange {
  double low, high;

  __device__ void add(double score) {
    low = score < low ? score : low;
    high = score > high ? score : high;
  }
  __device__ void add(const ScoreRange& other) {
    low = other.low < low ? other.low : low;
    high = other.high > high ? other.high : high;
  }
};

/// A group of GPU threads that works on one list: `Lanes` adjacent threads of a warp, or a whole block.
template <int Lanes>
class PairLanes {
 public:
  /// `shared` is shared memory for sums over a block, with two doubles per warp. It is not used if `Lanes` is a warp or
  /// less.
  __device__ explicit PairLanes(double* shared) : shared_(shared) {}

  __device__ int lane() const { return static_cast<int>(threadIdx.x) % Lanes; }
  __device__ int group() const { return static_cast<int>(threadIdx.x) / Lanes; }

  __device__ void sync() const {
    if constexpr (Lanes > warp) {
      __syncthreads();
    } else {
      __syncwarp(mask());
    }
  }

  /// Returns the sum of `value` over each `together` adjacent lanes, a power of 2. All of these lanes get the sum.
  __device__ double sum(double value, int together) const {
    for (int step = (together < warp ? together : warp) / 2; step > 0; step /= 2) {
      value += __shfl_xor_sync(mask(), value, step);
    }
    if (together <= warp) return value;
    const int mine = lane() / warp, warps = together / warp, first = mine / warps * warps;
    if (lane() % warp == 0) shared_[mine] = value;
    sync();
    double total = 0;
    for (int other = first; other < first + warps; ++other) total += shared_[other];
    sync();
    return total;
  }

  /// Returns the smallest range of scores that contains the ranges of all lanes.
  __device__ ScoreRange covered(ScoreRange range) const {
    for (int step = (Lanes < warp ? Lanes : warp) / 2; step > 0; step /= 2) {
      range.add({__shfl_xor_sync(mask(), range.low, step), __shfl_xor_sync(mask(), range.high, step)});
    }
    if constexpr (Lanes > warp) {
      const int mine = lane() / warp;
      if (lane() % warp == 0) {
        shared_[2 * mine] = range.low;
        shared_[2 * mine + 1] = range.high;
      }
      sync();
      for (int other = 0; other < Lanes / warp; ++other) range.add({shared_[2 * other], shared_[2 * other + 1]});
      sync();
    }
    return range;
  }

 private:
  __device__ unsigned mask() const {
    if constexpr (Lanes >= warp) return all_lanes;
    return ((1U << (Lanes % warp)) - 1) << (threadIdx.x % warp / Lanes * Lanes);
  }

  double* shared_;
};

}  // namespace mr::cuda
