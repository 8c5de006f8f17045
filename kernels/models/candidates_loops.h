// The loops of candidates.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by candidates_*.cpp
// only.
#include "kernels/core/simd/lanes.h"
#include "kernels/models/candidates.h"

namespace mr::cpu::MR_SIMD {
namespace {

using L = Lanes<float>;
typedef int32_t Numbers __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef

/// number of vectors that are multiplied together: so many that their sums, with two registers of rows each, fill the
/// registers
constexpr int64_t group = MR_VECTOR_BYTES == 64 ? 8 : 6;

#if defined(__AVX512F__)
/// Returns one bit for each product: 1 if the product is at least `bound`.
inline uint32_t reached(L::Vector products, L::Vector bound) { return _mm512_cmp_ps_mask(products, bound, _CMP_GE_OQ); }
/// Appends the products whose bit is 1, and their row numbers, to the vector's candidates. Whole registers are stored,
/// because storing only these entries is much slower.
inline void put(Basket& to, uint32_t mark, L::Vector products, Numbers rows) {
  const auto marked = static_cast<__mmask16>(mark);
  _mm512_storeu_ps(to.products + to.count, _mm512_maskz_compress_ps(marked, products));
  _mm512_storeu_si512(to.rows + to.count, _mm512_maskz_compress_epi32(marked, reinterpret_cast<__m512i>(rows)));
  to.count += __builtin_popcount(mark);
}
#else
inline uint32_t reached(L::Vector products, L::Vector bound) {
  const Numbers found = products >= bound;
#if defined(__AVX2__)
  return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(found)));
#else
  int32_t of_lane[L::count];
  std::memcpy(of_lane, &found, sizeof of_lane);
  uint32_t mark = 0;
  for (int64_t i = 0; i < L::count; ++i) mark |= (of_lane[i] != 0 ? 1U : 0U) << i;
  return mark;
#endif
}
inline void put(Basket& to, uint32_t mark, L::Vector products, Numbers rows) {
  for (; mark != 0; mark &= mark - 1) {
    const int lane = __builtin_ctz(mark);
    to.products[to.count] = products[lane];
    to.rows[to.count++] = rows[lane];
  }
}
#endif

inline Numbers numbers_from(int32_t first) {
  constexpr int32_t ascending[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  Numbers rows;
  std::memcpy(&rows, ascending, sizeof rows);
  return rows + first;
}

/// Multiplies a group of vectors by two registers of rows.
inline void collect_tile(const float* rows, const float* vectors, int64_t width, int32_t first, Basket* baskets) {
  L::Vector sum[group][2];
#pragma GCC unroll 8
  for (int64_t i = 0; i < group; ++i) sum[i][0] = sum[i][1] = L::Vector{};
  for (int64_t c = 0; c < width; ++c) {
    const auto left = L::load(rows + c * strip_rows), right = L::load(rows + c * strip_rows + L::count);
#pragma GCC unroll 8
    for (int64_t i = 0; i < group; ++i) {
      const auto entry = L::all(vectors[c * group + i]);
      sum[i][0] = multiply_add(entry, left, sum[i][0]);
      sum[i][1] = multiply_add(entry, right, sum[i][1]);
    }
  }
#pragma GCC unroll 8
  for (int64_t i = 0; i < group; ++i) {
    const auto bound = L::all(baskets[i].bound);
    const uint32_t left = reached(sum[i][0], bound), right = reached(sum[i][1], bound);
    if (__builtin_expect((left | right) != 0, 0)) {
      put(baskets[i], left, sum[i][0], numbers_from(first));
      put(baskets[i], right, sum[i][1], numbers_from(first + static_cast<int32_t>(L::count)));
    }
  }
}

void collect(const float* strip, const float* vectors, int64_t groups, int64_t width, int32_t first, Basket* baskets) {
  constexpr int64_t line = 64 / sizeof(float);
  const int64_t entries = width * strip_rows, share = (entries / line + groups - 1) / groups * line;
  for (int64_t g = 0; g < groups; ++g) {
    // prefetches the next strip, because strips are in a farther cache than vectors
    for (int64_t at = g * share; at < smaller((g + 1) * share, entries); at += line)
      __builtin_prefetch(strip + entries + at);
    for (int64_t at = 0; at < strip_rows; at += 2 * L::count) {
      collect_tile(strip + at, vectors + g * group * width, width, first + static_cast<int32_t>(at),
                   baskets + g * group);
    }
  }
}

void keep(Basket& basket) {
  const Basket of = basket;
  const auto bound = L::all(of.bound);
  int64_t i = 0;
  basket.count = 0;
  for (; i + L::count <= of.count; i += L::count) {
    const auto products = L::load(of.products + i);
    Numbers rows;
    std::memcpy(&rows, of.rows + i, sizeof rows);
    put(basket, reached(products, bound), products, rows);
  }
  for (; i < of.count; ++i) {
    if (!(of.products[i] >= of.bound)) continue;
    basket.products[basket.count] = of.products[i];
    basket.rows[basket.count++] = of.rows[i];
  }
}

int64_t count(const float* products, int64_t n, float least) {
  const auto bound = L::all(least);
  Numbers found = {};
  int64_t i = 0, total = 0;
  for (; i + L::count <= n; i += L::count) found -= L::load(products + i) >= bound;
  for (int64_t lane = 0; lane < L::count; ++lane) total += found[lane];
  for (; i < n; ++i) total += products[i] >= least ? 1 : 0;
  return total;
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
CandidateLoops loops_of<CandidateLoops, Simd::MR_SIMD>() {
  return {.group = MR_SIMD::group,
          .collect = &MR_SIMD::collect,
          .keep = &MR_SIMD::keep,
          .count = &MR_SIMD::count,
          .range = &MR_SIMD::range<float>};
}

}  // namespace mr::cpu
