// Gradients of the items that occur in a batch, on the CPU. Each row of the batch is added to its item directly, so
// nothing is sorted. The output row of an item is the number of smaller items that occur; it is computed from a bit set
// of items and a count for every 64 bits (rank of a bit vector).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/core/simd/simd.h"
#include "kernels/models/factor.h"

namespace mr::cpu {

/// The set of items, numbered from 0, that occur in a batch. Only groups of 64 items with an item in the set are
/// visited, so that the time depends little on the number of items.
class ItemSet {
 public:
  ItemSet(const IndexView& item_of, int64_t rows, int64_t items);

  int64_t count() const { return count_; }
  /// Writes the items that occur, ascending, numbered from 1.
  void write(int64_t* numbers) const;
  const uint64_t* bits() const { return bits_.data(); }
  /// Returns the number of items in the set before each group of 64 items. It is undefined for groups without an item
  /// in the set.
  const int32_t* before() const { return before_.get(); }

 private:
  /// Calls f(group) for each group of 64 items that has an item in the set, in ascending order.
  template <class F>
  void each_group(const F& f) const;

  std::vector<uint64_t> bits_, groups_;  // a bit for each item, and one for each group of 64 items
  std::unique_ptr<int32_t[]> before_;
  int64_t count_ = 0;
};

template <class Real>
struct ItemGradients {
  Span<const Real> users;
  IndexView user_of, item_of;
  Ragged lists;
  int64_t width;
  const uint64_t* bits;  // the bit set of the items that occur (ItemSet::bits)
  const int32_t* before;
  Span<const Real> upstream;
  Span<Real> out;  // gradients of the items, one row for every item that occurs in the batch
};

template <class Real>
struct ItemGradientLoops {
  /// Computes the gradients of items: rows `first` to `last` - 1 of `out`. Each is the sum, over the batch's rows r
  /// with this item in ascending order, of upstream[r] times the factors of the row's user.
  void (*add)(const ItemGradients<Real>& work, int64_t first, int64_t last);
};

/// Computes the gradients of all items, on all threads.
template <class Real>
void item_gradients(const ItemGradients<Real>& work);

}  // namespace mr::cpu
