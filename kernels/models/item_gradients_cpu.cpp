#include <algorithm>
#include <bit>

#include "kernels/core/launch_cpu.h"
#include "kernels/models/item_gradients.h"

namespace mr::cpu {

ItemSet::ItemSet(const IndexView& item_of, int64_t rows, int64_t items)
    : bits_(static_cast<size_t>((items + 63) / 64)), before_(bits_.size()) {
  uint64_t* const bits = bits_.data();
  for (int64_t r = 0; r < rows; ++r) {
    const auto item = static_cast<uint64_t>(item_of[r]);
    bits[item / 64] |= uint64_t{1} << (item % 64);
  }
  for (size_t word = 0; word < bits_.size(); ++word) {
    before_[word] = static_cast<int32_t>(count_);
    count_ += std::popcount(bits[word]);
  }
}

void ItemSet::write(int64_t* numbers) const {
  for (size_t word = 0; word < bits_.size(); ++word) {
    for (uint64_t left = bits_[word]; left != 0; left &= left - 1) {
      *numbers++ = static_cast<int64_t>(word) * 64 + std::countr_zero(left) + 1;
    }
  }
}

template <class Real>
void item_gradients(const ItemGradients<Real>& work) {
  constexpr double of_entry = 0.25;  // estimated nanoseconds to add one entry of a row's gradient
  // largest number of ranges into which the items are divided for the threads: for each range, all rows of the batch
  // are scanned
  constexpr int64_t most_pieces = 8;
  const double time = of_entry * static_cast<double>(work.upstream.size) * static_cast<double>(work.width);
  const int64_t places = work.width > 0 ? work.out.size / work.width : 0;
  const int64_t pieces = time < worth_sharing ? 1 : std::min<int64_t>(threads(), most_pieces);
  parallel(places, std::max<int64_t>(1, (places + pieces - 1) / pieces),
           [&](int64_t first, int64_t last) { chosen_loops<ItemGradientLoops<Real>>().add(work, first, last); });
}

template void item_gradients<float>(const ItemGradients<float>&);
template void item_gradients<double>(const ItemGradients<double>&);

}  // namespace mr::cpu
