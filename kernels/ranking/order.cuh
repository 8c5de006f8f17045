// Placements (ranks) of rows on the GPU by sorting, for batches with long lists. Where a list fits into the shared
// memory of a block, the block sorts it there. Otherwise all rows of the batch are sorted at once, by list and then by
// descending score. That sort is stable, so the rows are first sorted by the key of the tie rule. Ends of runs of tied
// rows are found by bisection, and the number of relevant rows above a run by a prefix sum.
#pragma once

#include <algorithm>
#include <bit>
#include <type_traits>

#include "kernels/device/launch.cuh"
#include "kernels/device/list_of.h"
#include "kernels/device/scratch.h"
#include "kernels/device/sort.h"
#include "kernels/ranking/order.h"

namespace mr::cuda {

/// A batch whose longest list has at least this many rows is sorted; shorter lists use counting, which is quadratic.
/// The number is an estimate.
constexpr int64_t sorted_from = 256;

/// `most_in_block`: largest number of rows that one block sorts in shared memory. `sorting_lanes`: number of threads
/// of such a block.
constexpr int64_t most_in_block = 2048;
constexpr int sorting_lanes = 256;

/// Writes the row numbers 0 .. n - 1, and for each row the key by which the tie rules `worst` and `trec` order rows of
/// equal scores.
template <class Real>
struct TieKeys {
  Place<Real> place;
  uint64_t* keys;
  int64_t* rows;
  MR_HD void operator()(int64_t i) const {
    rows[i] = i;
    if (place.ties == Ties::worst) keys[i] = ~static_cast<uint64_t>(falling_bits(place.relevance[i])) & 0xFFFFFFFFU;
    if (place.ties == Ties::trec) keys[i] = ~(static_cast<uint64_t>(place.keys[i]) ^ (uint64_t{1} << 63));
  }
};

/// Computes sort keys of rows that ascend as scores descend. For float32 the number of the row's list is in the upper
/// bits.
template <class Real>
struct ScoreKeys {
  Span<const Real> scores;
  Ragged lists;
  const int64_t* rows;
  uint64_t* keys;
  MR_HD void operator()(int64_t i) const {
    keys[i] = falling_bits(scores[rows[i]]);
    if constexpr (sizeof(Real) == 4) keys[i] |= static_cast<uint64_t>(list_of(lists, rows[i])) << 32;
  }
};

struct ListKeys {
  Ragged lists;
  const int64_t* rows;
  uint64_t* keys;
  MR_HD void operator()(int64_t i) const { keys[i] = static_cast<uint64_t>(list_of(lists, rows[i])); }
};

/// Sets flags[i] to 1 if the row that is ranked at position i of the batch is relevant, else to 0. There is one flag
/// more than rows, for an exclusive prefix sum.
struct RelevantFlags {
  Span<const float> relevance;
  float threshold;
  const int64_t* rows;
  int64_t* flags;
  MR_HD void operator()(int64_t i) const { flags[i] = i < relevance.size && relevance[rows[i]] >= threshold ? 1 : 0; }
};

/// Returns the first position in [low, high) for which `passes` is true, or `high` if there is none. If a position
/// passes, all later ones must pass, too.
template <class Test>
MR_HD int64_t first_place(int64_t low, int64_t high, Test passes) {
  while (low < high) {
    const int64_t middle = low + (high - low) / 2;
    if (passes(middle)) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

/// Returns the placement of the row at position i in ranked order, whose list starts at position `begin`. The rows
/// from position `first` to `last` - 1 are tied with it. relevant[k] is the number of relevant rows before position k.
template <class Count>
MR_HD Placement placement_at(int64_t i, int64_t begin, int64_t first, int64_t last, const Count* relevant) {
  return {static_cast<int32_t>(first - begin), static_cast<int32_t>(last - first),
          static_cast<int32_t>(relevant[first] - relevant[begin]),
          static_cast<int32_t>(relevant[last] - relevant[first]), static_cast<int32_t>(i - first)};
}

/// Computes where each row is ranked (its Placement, order.h) from the rows in ranked order, list after list.
/// relevant[i] is the number of relevant rows before position i of all lists together.
template <class Real>
struct PlacesOfSorted {
  Place<Real> place;
  const int64_t* rows;
  const int64_t* relevant;
  MR_HD void operator()(int64_t i) const {
    const int64_t row = rows[i], list = list_of(place.lists, row);
    const int64_t begin = place.lists.begin(list);
    int64_t first = i, last = i + 1;
    if (place.ties == Ties::mean) {
      const Real score = place.scores[row];
      first = first_place(begin, i, [&](int64_t k) { return place.scores[rows[k]] == score; });
      last = first_place(i, begin + place.lists.size(list), [&](int64_t k) { return place.scores[rows[k]] < score; });
    }
    place.out[row] = placement_at(i, begin, first, last, relevant);
  }
};

/// Sorts keys[0], ..., keys[size - 1] in shared memory, ascending (bitonic sort). `size` is a power of two.
__device__ inline void sort_in_block(uint64_t* keys, int64_t size) {
  for (int64_t run = 2; run <= size; run *= 2) {
    for (int64_t apart = run / 2; apart > 0; apart /= 2) {
      for (int64_t t = threadIdx.x; t < size / 2; t += blockDim.x) {
        const int64_t low = 2 * t - (t & (apart - 1));
        const uint64_t a = keys[low], b = keys[low + apart];
        if ((a > b) == ((low & run) == 0)) {
          keys[low] = b;
          keys[low + apart] = a;
        }
      }
      __syncthreads();
    }
  }
}

/// Computes exclusive prefix sums of flags with the threads of one block: out[k] = flag(0) + ... + flag(k - 1) for k =
/// 0, ..., n. `parts` has an entry per thread.
template <class Flag>
__device__ void count_in_block(int64_t n, int32_t* out, int32_t* parts, Flag flag) {
  const int lane = static_cast<int>(threadIdx.x), lanes = static_cast<int>(blockDim.x);
  const int64_t each = (n + lanes - 1) / lanes, begin = lane * each, end = begin + each < n ? begin + each : n;
  int32_t mine = 0;
  for (int64_t k = begin; k < end; ++k) mine += flag(k) ? 1 : 0;
  parts[lane] = mine;
  __syncthreads();
  for (int apart = 1; apart < lanes; apart *= 2) {
    const int32_t before = lane >= apart ? parts[lane - apart] : 0;
    __syncthreads();
    parts[lane] += before;
    __syncthreads();
  }
  int32_t sum = parts[lane] - mine;
  if (lane == 0) out[0] = 0;
  for (int64_t k = begin; k < end; ++k) out[k + 1] = sum += flag(k) ? 1 : 0;
  __syncthreads();
}

/// Computes the placements of a list with one block of threads, under the tie rules `mean` and `stable`. Rows are
/// sorted by a key with the score in the upper bits and the row number in the lower ones.
template <class Real>
__global__ void __launch_bounds__(sorting_lanes) run_place_in_block(int64_t count, const Place<Real> w) {
  static_assert(sizeof(Real) == 4, "a score must fit above a row's number");
  __shared__ uint64_t keys[most_in_block];
  __shared__ int32_t relevant[most_in_block + 1], parts[sorting_lanes];
  for (int64_t list = blockIdx.x; list < count; list += gridDim.x) {
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    int64_t size = 1;
    while (size < n) size *= 2;
    for (int64_t i = threadIdx.x; i < size; i += blockDim.x) {
      keys[i] =
          i < n ? static_cast<uint64_t>(falling_bits(w.scores[at + i])) << 32 | static_cast<uint64_t>(i) : ~uint64_t{0};
    }
    __syncthreads();
    sort_in_block(keys, size);
    const auto row = [&](int64_t k) { return at + static_cast<int64_t>(keys[k] & 0xFFFFFFFFU); };
    count_in_block(n, relevant, parts, [&](int64_t k) { return w.relevance[row(k)] >= w.threshold; });
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
      const uint64_t score = keys[i] >> 32;
      int64_t first = i, last = i + 1;
      if (w.ties == Ties::mean) {
        first = first_place(0, i, [&](int64_t k) { return keys[k] >> 32 == score; });
        last = first_place(i, n, [&](int64_t k) { return keys[k] >> 32 > score; });
      }
      w.out[row(i)] = placement_at(i, 0, first, last, relevant);
    }
    __syncthreads();
  }
}

template <class Real>
void place_by_sorting(const Place<Real>& work) {
  const int64_t n = work.scores.size;
  const Scratch<uint64_t> keys(n);
  const Scratch<int64_t> rows(n), relevant(n + 1);
  const int list_bits = std::bit_width(static_cast<uint64_t>(work.lists.count));
  Backend::elements(n, TieKeys<Real>{work, keys.data(), rows.data()});
  if (work.ties == Ties::worst) sort_pairs(n, keys.data(), rows.data(), 32);
  if (work.ties == Ties::trec) sort_pairs(n, keys.data(), rows.data());
  Backend::elements(n, ScoreKeys<Real>{work.scores, work.lists, rows.data(), keys.data()});
  sort_pairs(n, keys.data(), rows.data(), sizeof(Real) == 4 ? 32 + list_bits : 64);
  if constexpr (sizeof(Real) == 8) {
    Backend::elements(n, ListKeys{work.lists, rows.data(), keys.data()});
    sort_pairs(n, keys.data(), rows.data(), list_bits);
  }
  Backend::elements(n + 1, RelevantFlags{work.relevance, work.threshold, rows.data(), relevant.data()});
  exclusive_scan(n + 1, relevant.data(), relevant.data());
  Backend::elements(n, PlacesOfSorted<Real>{work, rows.data(), relevant.data()});
}

template <class Real>
void place(int64_t count, const Place<Real>& work) {
  if (work.longest < sorted_from) return Backend::lists(count, work);
  if constexpr (std::is_same_v<Real, float>) {
    if (work.longest <= most_in_block && (work.ties == Ties::mean || work.ties == Ties::stable)) {
      return launch(&run_place_in_block<Real>, blocks_for(count), sorting_lanes, 0, count, work);
    }
  }
  place_by_sorting(work);
}

}  // namespace mr::cuda
