// Placements (ranks) of rows on the GPU by sorting, for batches with long lists. All rows of the batch are sorted at
// once, by list and then by descending score. The sort is stable, so the rows are first sorted by the key of the tie
// rule. Ends of runs of tied rows are found by bisection, and the number of relevant rows above a run by a prefix sum.
#pragma once

#include <bit>

#include "kernels/device/launch.cuh"
#include "kernels/device/list_of.h"
#include "kernels/device/scratch.h"
#include "kernels/device/sort.h"
#include "kernels/ranking/order.h"

namespace mr::cuda {

/// A batch whose longest list has at least this many rows is sorted; shorter lists use counting, which is quadratic.
/// The number is an estimate.
constexpr int64_t sorted_from = 256;

/// The row numbers 0 .. n - 1 with, as keys, the order of equal scores under the tie rules `worst` and `trec`.
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

/// Keys that ascend as scores descend. For float32 the list's number is in the upper bits.
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

/// 1 where the row at a place is relevant, else 0; one entry more than there are rows, for a prefix sum.
struct RelevantFlags {
  Span<const float> relevance;
  float threshold;
  const int64_t* rows;
  int64_t* flags;
  MR_HD void operator()(int64_t i) const { flags[i] = i < relevance.size && relevance[rows[i]] >= threshold ? 1 : 0; }
};

/// Placements from rows in ranked order. relevant[i] is the number of relevant rows before place i of the batch.
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
      first = boundary(begin, i, [&](Real other) { return other == score; });
      last = boundary(i, begin + place.lists.size(list), [&](Real other) { return other < score; });
    }
    place.out[row] = {static_cast<int32_t>(first - begin), static_cast<int32_t>(last - first),
                      static_cast<int32_t>(relevant[first] - relevant[begin]),
                      static_cast<int32_t>(relevant[last] - relevant[first]), static_cast<int32_t>(i - first)};
  }

 private:
  /// Returns the first place in [low, high) whose score passes the test, else high. Scores that pass must come last.
  template <class Test>
  MR_HD int64_t boundary(int64_t low, int64_t high, Test passes) const {
    while (low < high) {
      const int64_t middle = low + (high - low) / 2;
      if (passes(place.scores[rows[middle]])) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return low;
  }
};

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
  if (work.longest >= sorted_from) {
    place_by_sorting(work);
  } else {
    Backend::lists(count, work);
  }
}

}  // namespace mr::cuda
