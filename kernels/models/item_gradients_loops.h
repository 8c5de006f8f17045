// The loop of item_gradients.h, inside namespace MR_SIMD. It uses no fused operations, so every instruction set gives
// the same bits as the reference kernel (FactorItemGradients).
#include "kernels/models/item_gradients.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// Adds weight * from to `to`, one cache line at a time.
template <class Real>
void add_row(Real* __restrict__ to, const Real* __restrict__ from, Real weight, int64_t n) {
  constexpr auto part = static_cast<int64_t>(64 / sizeof(Real));
  int64_t c = 0;
  for (; c + part <= n; c += part) {
    for (int64_t k = 0; k < part; ++k) to[c + k] += weight * from[c + k];
  }
  for (; c < n; ++c) to[c] += weight * from[c];
}

/// The rows of a batch (at most `most` at a time) whose items belong to the output rows first to last - 1. `row` has
/// their numbers, and `place` the output rows of their items.
struct Found {
  static constexpr int64_t most = 64;
  int64_t row[most], place[most], count = 0;
};

template <class Real>
void choose(const ItemGradients<Real>& w, int64_t from, int64_t to, int64_t first, int64_t last, Found* found) {
  int64_t count = 0;
  for (int64_t r = from; r < to; ++r) {
    const int64_t item = w.item_of[r], word = item / 64;
    const uint64_t lower = w.bits[word] & ((uint64_t{1} << (item % 64)) - 1);
    const int64_t place = w.before[word] + __builtin_popcountll(lower);
    found->row[count] = r;
    found->place[count] = place;
    // counts the rows whose output row is in [first, last), without a branch
    count += static_cast<int64_t>(place >= first) & static_cast<int64_t>(place < last);
  }
  found->count = count;
}

template <class Real>
void add(const ItemGradients<Real>& work, int64_t first, int64_t last) {
  const ItemGradients<Real> w = work;
  __builtin_memset(w.out.data + first * w.width, 0, (last - first) * w.width * sizeof(Real));
  Found found;
  for (int64_t list = 0; list < w.lists.count; ++list) {
    const Real* const user = w.users.data + w.user_of[list] * w.width;
    const int64_t end = w.lists.offsets[list + 1];
    for (int64_t r = w.lists.offsets[list]; r < end; r += Found::most) {
      choose(w, r, r + Found::most < end ? r + Found::most : end, first, last, &found);
      for (int64_t k = 0; k < found.count; ++k)
        add_row(w.out.data + found.place[k] * w.width, user, w.upstream.data[found.row[k]], w.width);
    }
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
ItemGradientLoops<float> loops_of<ItemGradientLoops<float>, Simd::MR_SIMD>() {
  return {.add = &MR_SIMD::add<float>};
}
template <>
ItemGradientLoops<double> loops_of<ItemGradientLoops<double>, Simd::MR_SIMD>() {
  return {.add = &MR_SIMD::add<double>};
}

}  // namespace mr::cpu
