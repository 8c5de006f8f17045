// The CPU's tables of exact metrics; placements by sorting.
#include "kernels/tables/metrics.h"

#include <algorithm>
#include <bit>
#include <vector>

#include "kernels/cpu/launch.h"

namespace mr {
namespace cpu {
namespace {

/// A score's bits as a number that is smaller the higher the score; -0 and 0 are one.
inline uint32_t falling_bits(float score) {
  const auto bits = std::bit_cast<uint32_t>(score + 0.0F);
  return (bits >> 31) != 0 ? bits : ~bits & 0x7FFFFFFFU;
}

/// Sorts by the upper halves; equal ones keep their order. Bytes that are the same in all are passed over.
void radix_sort(std::vector<uint64_t>& keys) {
  thread_local std::vector<uint64_t> other;
  other.resize(keys.size());
  for (int shift = 32; shift < 64; shift += 8) {
    uint32_t counts[256] = {};
    for (const uint64_t key : keys) ++counts[(key >> shift) & 255];
    if (counts[(keys[0] >> shift) & 255] == keys.size()) continue;
    uint32_t at = 0;
    for (uint32_t& count : counts) {
      const uint32_t here = count;
      count = at;
      at += here;
    }
    for (const uint64_t key : keys) other[counts[(key >> shift) & 255]++] = key;
    keys.swap(other);
  }
}

constexpr size_t radix_from = 192;  // rows, from which four passes over them are quicker than comparisons

/// Row numbers from the first rank to the last.
template <class Real>
void sort_rows(const Precedes<Real>& precedes, std::vector<int32_t>& order) {
  const size_t n = order.size();
  if constexpr (sizeof(Real) == 4) {
    if (precedes.ties == Ties::mean || precedes.ties == Ties::stable) {
      thread_local std::vector<uint64_t> keys;
      keys.resize(n);
      for (size_t i = 0; i < n; ++i) keys[i] = static_cast<uint64_t>(falling_bits(precedes.scores[i])) << 32 | i;
      if (n >= radix_from) {
        radix_sort(keys);
      } else {
        std::sort(keys.begin(), keys.end());
      }
      for (size_t i = 0; i < n; ++i) order[i] = static_cast<int32_t>(keys[i] & 0xFFFFFFFFU);
      return;
    }
  }
  for (size_t i = 0; i < n; ++i) order[i] = static_cast<int32_t>(i);
  std::sort(order.begin(), order.end(), precedes);
}

template <class Real>
struct PlaceBySorting : Place<Real> {
  template <class Group>
  void operator()(const Group&, int64_t list) const {
    const Place<Real>& w = *this;
    const int64_t at = w.lists.begin(list), n = w.lists.size(list);
    const Precedes<Real> precedes{w.scores.data + at, w.relevance.data + at,
                                  w.keys.data + (w.keys.data != nullptr ? at : 0), w.ties};
    thread_local std::vector<int32_t> order;
    order.resize(static_cast<size_t>(n));
    sort_rows(precedes, order);
    int32_t relevant_above = 0;
    for (int64_t first = 0, last = 0; first < n; first = last) {
      int32_t relevant = 0;
      do {
        relevant += precedes.relevance[order[last]] >= w.threshold ? 1 : 0;
        ++last;
      } while (w.ties == Ties::mean && last < n && precedes.scores[order[last]] == precedes.scores[order[first]]);
      Placement place{static_cast<int32_t>(first), static_cast<int32_t>(last - first), relevant_above, relevant, 0};
      for (int64_t r = first; r < last; ++r, ++place.before) w.out[at + order[r]] = place;
      relevant_above += relevant;
    }
  }
};

template <class Real>
void place(int64_t count, const Place<Real>& work) {
  Backend::lists(count, PlaceBySorting<Real>{work});
}

template <class Real>
void with_fast_forms(MetricKernels<Real>& table) {
  table.place = &place<Real>;
}

}  // namespace
}  // namespace cpu

MR_CPU_TABLE(MetricKernels, float, cpu::with_fast_forms)
MR_CPU_TABLE(MetricKernels, double, cpu::with_fast_forms)

}  // namespace mr
