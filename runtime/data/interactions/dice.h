// Random numbers that depend only on the seed, the purpose and the user (or list), not on random numbers that were
// drawn before for others.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/core/rng.h"

namespace mr {

/// A sequence of random integers for one user (`lane`) and one purpose (`key`).
class Dice {
 public:
  Dice(RandomKey key, uint64_t lane) : key_(key), lane_(lane) {}
  /// Returns a uniform integer in [0, n).
  int64_t below(int64_t n) {
    return static_cast<int64_t>(bounded(philox(key_, next_++, lane_).low(), static_cast<uint64_t>(n)));
  }

 private:
  RandomKey key_;
  uint64_t lane_, next_ = 0;
};

template <class T>
void shuffle(std::vector<T>& values, Dice dice) {
  for (auto i = static_cast<int64_t>(values.size()) - 1; i > 0; --i) std::swap(values[i], values[dice.below(i + 1)]);
}

/// Draws `count` distinct numbers of 0 .. n - 1 in random order, by a sparse Fisher-Yates shuffle.
inline std::vector<int64_t> draw_distinct(int64_t n, int64_t count, Dice dice) {
  std::unordered_map<int64_t, int64_t> moved;
  const auto at = [&](int64_t i) {
    const auto found = moved.find(i);
    return found == moved.end() ? i : found->second;
  };
  std::vector<int64_t> drawn;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t j = i + dice.below(n - i);
    drawn.push_back(at(j));
    moved[j] = at(i);
  }
  return drawn;
}

/// Returns an item that is not in `known`, which is ascending and counts items from 1. It is the item with exactly
/// `rank` smaller items that are not in `known` either.
inline int64_t unseen_item(const std::vector<int64_t>& known, int64_t rank) {
  // A bisection finds the item, because exactly known[i] - 1 - i items that are not in `known` are smaller than
  // known[i].
  int64_t low = 0, high = static_cast<int64_t>(known.size());
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (known[middle] - 1 - middle <= rank) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return rank + low + 1;
}

}  // namespace mr
