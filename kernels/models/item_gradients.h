// Gradients of the items that occur in a batch, on the CPU: what each row of the batch adds goes to its item as the
// rows come, so that nothing is sorted. An item's place is the number of items before it that occur, which a bit for
// every item and a count for every 64 of them tell.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/simd.h"
#include "kernels/models/factor.h"

namespace mr::cpu {

/// Which items occur, counted from 0.
class ItemSet {
 public:
  ItemSet(const IndexView& item_of, int64_t rows, int64_t items);

  int64_t count() const { return count_; }
  /// Their numbers, ascending, counted from 1.
  void write(int64_t* numbers) const;
  const uint64_t* bits() const { return bits_.data(); }
  const int32_t* before() const { return before_.data(); }

 private:
  std::vector<uint64_t> bits_;
  std::vector<int32_t> before_;  // how many occur before every 64
  int64_t count_ = 0;
};

template <class Real>
struct ItemGradients {
  Span<const Real> users;
  IndexView user_of, item_of;
  Ragged lists;
  int64_t width;
  const uint64_t* bits;  // of an ItemSet
  const int32_t* before;
  Span<const Real> upstream;
  Span<Real> out;  // a row for every item that occurs
};

template <class Real>
struct ItemGradientLoops {
  /// Rows first to last - 1 of out: each the sum of upstream[r] p_u over the item's rows r, ascending.
  void (*add)(const ItemGradients<Real>& work, int64_t first, int64_t last);
};

/// All items, shared by all threads.
template <class Real>
void item_gradients(const ItemGradients<Real>& work);

}  // namespace mr::cpu
