// Rows of interactions: each is a relevant item of a user, then negatives, drawn uniformly with replacement from the
// items that the user does not have (or from all items, if the pairs of a batch share their negatives). A draw depends
// only on the seed, the training step and the row of the interaction in its batch.
#pragma once

#include <cstdint>

#include "kernels/core/rng.h"
#include "kernels/core/view.h"

namespace mr {

/// Draws uniform integers in [0, n) for one row of a step (Lemire 2019): the product of n and 32 random bits has the
/// integer in its upper half. Lower halves below 2^32 mod n are drawn again, so that no integer is more likely.
class UniformDraws {
 public:
  // number of bits of a row's number of negatives and of a training step, at most: both share 64-bit counters with
  // other numbers
  static constexpr int draw_bits = 20, step_bits = 40;

  /// The key, step, row and bound n, which are the same for all draws of a row.
  struct State {
    RandomKey key;
    uint64_t step, row, n;

    /// Returns the lower half of a product below which the integer is drawn again. It is below n.
    MR_HD uint64_t least() const { return ((uint64_t{1} << 32) - n) % n; }
  };

  MR_HD UniformDraws(RandomKey key, uint64_t step, uint64_t row, uint64_t n) : of_{key, step, row << draw_bits, n} {}
  MR_HD const State& state() const { return of_; }

  /// Writes the row's random integers number `first` to first + count - 1, where `first` is a multiple of 4.
  MR_HD void write(int64_t first, int64_t count, int32_t* out) const {
    for (int64_t d = 0; d < count; d += 4)
      write_four(philox(of_.key, block_of(first + d), of_.step), first + d, count - d, out + d);
  }

  /// The position in the random sequence, of training step `step`, of the bits of the integers `first` to first + 3.
  MR_HD uint64_t block_of(int64_t first) const { return of_.row | static_cast<uint64_t>(first / 4); }
  /// Writes the integers number `first` to first + 3 from their random bits, or only the first `left` of them.
  MR_HD void write_four(const Random128& bits, int64_t first, int64_t left, int32_t* out) const {
    for (int64_t k = 0; k < 4 && k < left; ++k) {
      const uint64_t product = bits.word[k] * of_.n;
      out[k] = static_cast<int32_t>(is_kept(product) ? product >> 32 : again(first + k));
    }
  }

 private:
  /// Returns true unless the integer in the upper half of `product` must be drawn again. Nearly always the lower half
  /// is at least n, which saves a division.
  MR_HD bool is_kept(uint64_t product) const {
    const uint64_t lower = product & 0xFFFFFFFFULL;
    return lower >= of_.n || lower >= of_.least();
  }
  MR_HD uint64_t again(int64_t draw) const {
    for (uint64_t attempt = 1;; ++attempt) {
      const Random128 bits = philox(of_.key, of_.row | static_cast<uint64_t>(draw), of_.step | attempt << step_bits);
      const uint64_t product = bits.word[0] * of_.n;
      if (is_kept(product)) return product >> 32;
    }
  }

  State of_;
};

/// Returns a guess for the position, among a user's items, of the first one with more than `rank` unknown items below
/// it: the exact position if the items were spread evenly.
MR_HD inline int64_t guess_of(int64_t known, int64_t rank, int64_t all_items) {
  return static_cast<int64_t>(static_cast<double>(rank * known) / static_cast<double>(all_items - known));
}

/// Returns how many of a user's items have at most `rank` unknown items below them. The search goes up or down from
/// `guess` by growing steps, then halves what is left: it reads few of the items.
MR_HD inline int64_t known_before(Span<const int64_t> known, int64_t rank, int64_t guess) {
  int64_t low = 0, high = known.size;
  int64_t next = guess, step = 2;
  while (low < high) {
    const bool is_before = known[next] - 1 - next <= rank;
    (is_before ? low : high) = is_before ? next + 1 : next;
    next += is_before ? step : -step;
    step *= 2;
    if (next < low || next >= high) next = (low + high) / 2;
  }
  return low;
}

/// Pairs of a user and a relevant item, and where to write their rows of 1 + `count` items. All numbers are from 1.
struct InteractionRows {
  Span<const int64_t> users, items;  // `items` is used on the GPU only
  const int64_t *offsets, *known;    // the items of user u (from 0) are known[offsets[u]] .. known[offsets[u + 1] - 1]
  const int32_t* gaps = nullptr;     // UserItemTable::gaps; null on the GPU and if negatives are shared
  int64_t all_items, count;
  // number of pairs in each batch that come before the first pair of this call: a batch may be split between processes
  int64_t before;
  // number of consecutive pairs per batch; the first batch is of training step `step`, and each further batch of the
  // next step
  int64_t batch;
  bool shared;  // true: all pairs of a batch have the same negatives, drawn from all items
  RandomKey key;
  uint64_t step;
  int64_t* out;

  MR_HD int64_t* row(int64_t r) const { return out + r * (count + 1); }
  MR_HD Span<const int64_t> known_of(int64_t r) const {
    if (shared) return {known, 0};
    const int64_t begin = offsets[users[r] - 1];
    return {known + begin, offsets[users[r]] - begin};
  }
  /// Returns the gaps of the user of pair r, on the CPU.
  Span<const int32_t> gaps_of(int64_t r, int64_t padding) const {
    const int64_t user = users[r] - 1, begin = offsets[user];
    return {gaps + begin + user * padding, offsets[user + 1] - begin};
  }
  MR_HD UniformDraws draws(int64_t r) const { return draws(r, r / batch, r % batch); }
  /// Returns the draws of pair r, which is number `place` of batch `batch_number`; both count from 0.
  MR_HD UniformDraws draws(int64_t r, int64_t batch_number, int64_t place) const {
    const auto unknown = static_cast<uint64_t>(all_items - known_of(r).size);
    const uint64_t row = shared ? 0 : static_cast<uint64_t>(before + place);
    return {key, step + static_cast<uint64_t>(batch_number), row, unknown};
  }
};

namespace cuda {

/// Writes the item numbers of all interactions on the GPU. All arrays are in device memory.
void write_interactions(const InteractionRows& rows);

}  // namespace cuda
}  // namespace mr
