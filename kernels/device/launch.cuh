// How kernels run on the GPU. Elements run over a grid of threads. Lists run over groups of lanes: a block of four
// warps per list if there are few lists, else one warp per list. Blocks and warps add up a list in the same order, so
// its result does not depend on the number of lists in the batch.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/device/grid.cuh"

namespace mr::cuda {

/// The lanes of `Warps` warps (4: a block, 1: a warp) that work on one list. A sum keeps 128 strided partial sums, as
/// four strands of 32, and combines them in a fixed order: a butterfly within each strand, then the strands one after
/// another.
template <int Warps>
class LaneGroup {
  static_assert(Warps == 1 || Warps == 4);

 public:
  static constexpr int strands = 4;
  static constexpr int stride = strands * warp;

  /// `shared` is shared memory for the partial sums of a block, one double per strand (32 lanes). A group of one warp
  /// does not use it.
  __device__ explicit LaneGroup(double* shared)
      : shared_(shared), lane_(static_cast<int>(threadIdx.x) % warp), strand_(static_cast<int>(threadIdx.x) / warp) {}

  template <class F>
  __device__ void each(int64_t n, F f) const {
    const int first = Warps == 1 ? lane_ : static_cast<int>(threadIdx.x);
    for (int64_t i = first; i < n; i += Warps * warp) f(i);
    barrier();
  }

  template <class F>
  __device__ double sum(int64_t n, F f) const {
    double total = 0;
    if constexpr (Warps == 1) {
      // Stops at the first strand (32 lanes) that has no row: its sum +0 would not change the total.
      for (int64_t strand = 0; strand < strands && strand * warp < n; ++strand) total += strand_sum(strand, n, f);
      barrier();
    } else {
      const double mine = strand_sum(strand_, n, f);
      if (lane_ == 0) shared_[strand_] = mine;
      barrier();
      for (int strand = 0; strand < strands; ++strand) total += shared_[strand];
      barrier();
    }
    return total;
  }

  template <class T, class F>
  __device__ T max(int64_t n, T lowest, F f) const {
    static_assert(sizeof(T) <= sizeof(double));
    T best = lowest;
    const int first = Warps == 1 ? lane_ : static_cast<int>(threadIdx.x);
    for (int64_t i = first; i < n; i += Warps * warp) best = larger(best, static_cast<T>(f(i)));
    for (int step = warp / 2; step > 0; step /= 2) best = larger(best, __shfl_xor_sync(all_lanes, best, step));
    if constexpr (Warps == 1) {
      barrier();
      // Lanes may have found +0 or -0 as the maximum: all lanes return the value of lane 0.
      return __shfl_sync(all_lanes, best, 0);
    } else {
      T* const of_strand = reinterpret_cast<T*>(shared_);
      if (lane_ == 0) of_strand[strand_] = best;
      barrier();
      best = of_strand[0];
      for (int strand = 1; strand < strands; ++strand) best = larger(best, of_strand[strand]);
      barrier();
      return best;
    }
  }

 private:
  template <class T>
  static __device__ T larger(T best, T value) {
    return value > best ? value : best;
  }

  template <class F>
  __device__ double strand_sum(int64_t strand, int64_t n, F& f) const {
    double part = 0;
    for (int64_t i = strand * warp + lane_; i < n; i += stride) part += static_cast<double>(f(i));
    for (int step = warp / 2; step > 0; step /= 2) part += __shfl_xor_sync(all_lanes, part, step);
    return part;
  }

  /// Synchronizes all lanes and makes their writes visible to each other.
  __device__ void barrier() const {
    if constexpr (Warps == 1) {
      __syncwarp();
    } else {
      __syncthreads();
    }
  }

  double* shared_;
  int lane_, strand_;
};

template <class Work>
__global__ void __launch_bounds__(256) run_elements(int64_t count, const Work work) {
  const int64_t step = static_cast<int64_t>(gridDim.x) * blockDim.x;
  for (int64_t i = static_cast<int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += step) work(i);
}

template <class Work>
__global__ void __launch_bounds__(128) run_list_per_block(int64_t count, const Work work) {
  __shared__ double shared[LaneGroup<4>::strands];
  const LaneGroup<4> group(shared);
  for (int64_t list = blockIdx.x; list < count; list += gridDim.x) work(group, list);
}

template <class Work>
__global__ void __launch_bounds__(128) run_list_per_warp(int64_t count, const Work work) {
  const LaneGroup<1> group(nullptr);
  const int64_t per_block = blockDim.x / warp;
  const int64_t step = gridDim.x * per_block;
  for (int64_t list = blockIdx.x * per_block + threadIdx.x / warp; list < count; list += step) work(group, list);
}

/// Returns the number of blocks of a launch for `pieces` blocks' worth of work, at most 64 per multiprocessor. More
/// blocks would only wait for each other, so each block computes several lists or ranges of elements in turn.
inline int64_t blocks_for(int64_t pieces) {
  return std::min<int64_t>(pieces, static_cast<int64_t>(gpu().multiprocessors()) * 64);
}

struct Backend {
  template <class Work>
  static void elements(int64_t count, const Work& work) {
    constexpr int threads = 256;
    launch(&run_elements<Work>, blocks_for((count + threads - 1) / threads), threads, 0, count, work);
  }

  template <class Work>
  static void lists(int64_t count, const Work& work) {
    constexpr int threads = 128;
    // With at most this many lists, every list gets a block at once. A warp per list would leave lanes idle.
    const int64_t few = static_cast<int64_t>(gpu().multiprocessors()) * 16;
    if (count <= few) {
      launch(&run_list_per_block<Work>, blocks_for(count), threads, 0, count, work);
    } else {
      launch(&run_list_per_warp<Work>, blocks_for((count + 3) / 4), threads, 0, count, work);
    }
  }
};

}  // namespace mr::cuda
