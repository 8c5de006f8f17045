// The GPU lanes that share the pairs of a list: lanes of a warp, or of a block. A lane computes one target row, or
// several lanes share one target row and divide its source rows.
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

/// A group of `Lanes` adjacent lanes of a warp, or a block.
template <int Lanes>
class PairLanes {
 public:
  /// `shared`: two doubles per warp, for blocks only.
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

  /// The sum over each `together` adjacent lanes (a power of 2); all of these lanes get it.
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

  /// The smallest range that covers the ranges of all lanes.
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
