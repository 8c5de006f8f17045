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

/// Rows of a batch whose items belong to the output rows first to last - 1: the output row of each one's item, the
/// user's factors and the row's upstream derivative. They are collected without a branch, and then added together.
template <class Real>
struct Found {
  static constexpr int64_t most = 64;
  int64_t place[most], count = 0;
  const Real* user[most];
  Real weight[most];

  void add_to(Real* out, int64_t width) {
    for (int64_t k = 0; k < count; ++k) add_row(out + place[k] * width, user[k], weight[k], width);
    count = 0;
  }
};

template <class Real>
void add(const ItemGradients<Real>& work, int64_t first, int64_t last) {
  const ItemGradients<Real> w = work;
  __builtin_memset(w.out.data + first * w.width, 0, (last - first) * w.width * sizeof(Real));
  Found<Real> found;
  for (int64_t list = 0; list < w.lists.count; ++list) {
    const Real* const user = w.users.data + w.user_of[list] * w.width;
    const int64_t end = w.lists.offsets[list + 1];
    for (int64_t r = w.lists.offsets[list]; r < end; ++r) {
      const int64_t item = w.item_of[r], word = item / 64;
      const uint64_t lower = w.bits[word] & ((uint64_t{1} << (item % 64)) - 1);
      const int64_t place = w.before[word] + __builtin_popcountll(lower), k = found.count;
      found.place[k] = place;
      found.user[k] = user;
      found.weight[k] = w.upstream.data[r];
      found.count = k + (static_cast<int64_t>(place >= first) & static_cast<int64_t>(place < last));
      if (found.count == Found<Real>::most) found.add_to(w.out.data, w.width);
    }
  }
  found.add_to(w.out.data, w.width);
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
