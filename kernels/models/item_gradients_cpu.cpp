#include <algorithm>
#include <bit>

#include "kernels/core/launch_cpu.h"
#include "kernels/models/item_gradients.h"

namespace mr::cpu {

template <class F>
void ItemSet::each_group(const F& f) const {
  for (size_t word = 0; word < groups_.size(); ++word) {
    for (uint64_t left = groups_[word]; left != 0; left &= left - 1) {
      f(word * 64 + static_cast<size_t>(std::countr_zero(left)));
    }
  }
}

ItemSet::ItemSet(const IndexView& item_of, int64_t rows, int64_t items)
    : bits_(static_cast<size_t>((items + 63) / 64)),
      groups_((bits_.size() + 63) / 64),
      before_(std::make_unique_for_overwrite<int32_t[]>(bits_.size())) {
  uint64_t *const bits = bits_.data(), *const groups = groups_.data();
  for (int64_t r = 0; r < rows; ++r) {
    const auto item = static_cast<uint64_t>(item_of[r]), group = item / 64;
    bits[group] |= uint64_t{1} << (item % 64);
    groups[group / 64] |= uint64_t{1} << (group % 64);
  }
  each_group([&](size_t group) {
    before_[group] = static_cast<int32_t>(count_);
    count_ += std::popcount(bits[group]);
  });
}

void ItemSet::write(int64_t* numbers) const {
  each_group([&](size_t group) {
    for (uint64_t left = bits_[group]; left != 0; left &= left - 1) {
      *numbers++ = static_cast<int64_t>(group) * 64 + std::countr_zero(left) + 1;
    }
  });
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
