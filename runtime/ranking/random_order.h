// Random orders of a list's rows.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "kernels/core/logarithms.h"
#include "kernels/core/rng.h"

namespace mr {

/// Draws rows without replacement with weights e^pull: by a Fisher-Yates shuffle if weights are equal, else by sorting
/// pull plus a Gumbel variate (Yellott 1977). Order number `sample` depends only on the key and that number.
class RandomOrder {
 public:
  RandomOrder(const std::vector<double>& pulls, RandomKey key)
      : pulls_(pulls),
        key_(key),
        weighted_(std::any_of(pulls.begin(), pulls.end(), [&](double x) { return x != pulls[0]; })),
        order_(pulls.size()),
        keys_(weighted_ ? pulls.size() : 0) {}

  /// Draws an order and returns the rows, counted from 0, by rank.
  const std::vector<int64_t>& next(uint64_t sample) {
    std::iota(order_.begin(), order_.end(), int64_t{0});
    if (weighted_) {
      sort(sample);
    } else {
      shuffle(sample);
    }
    return order_;
  }

 private:
  uint64_t bits(uint64_t sample, size_t i) const { return philox(key_, sample, static_cast<uint64_t>(i)).low(); }

  void shuffle(uint64_t sample) {
    for (size_t r = 0; r + 1 < order_.size(); ++r)
      std::swap(order_[r], order_[r + bounded(bits(sample, r), static_cast<uint64_t>(order_.size() - r))]);
  }

  void sort(uint64_t sample) {
    for (size_t i = 0; i < keys_.size(); ++i) {
      const double share = (static_cast<double>(bits(sample, i) >> 12) + 0.5) * 0x1p-52;  // a uniform draw in (0, 1)
      keys_[i] = pulls_[i] - portable::log(-portable::log(share));
    }
    std::sort(order_.begin(), order_.end(),
              [&](int64_t a, int64_t b) { return keys_[a] != keys_[b] ? keys_[a] > keys_[b] : a < b; });
  }

  std::vector<double> pulls_;
  RandomKey key_;
  bool weighted_;
  std::vector<int64_t> order_;
  std::vector<double> keys_;
};

}  // namespace mr
