#include <algorithm>
#include <vector>

#include "kernels/core/threads.h"
#include "kernels/tensor/matmul.h"

namespace mr::cpu {
namespace {

/// Matrix products with fewer multiplications than `worth_sharing` run on one thread, because starting threads takes
/// longer. The number of columns and the inner size count as at least `least_size`, because vectors are padded.
constexpr int64_t worth_sharing = 4'000'000, least_size = 16;
/// least number of rows of c that a thread computes at a time: enough to make loading a block of b into the cache
/// worthwhile
constexpr int64_t least_rows = 16, pieces = 8;
/// Only products with at most `few_rows` rows and sums of at least `long_sum` terms are divided among threads by blocks
/// of the inner dimension.
constexpr int64_t few_rows = 64, long_sum = 16 * product_block;
/// Largest number of multiplications between two checks for Ctrl-C. They take some tenths of a second.
constexpr int64_t most_work = 2'000'000'000;

/// Divides a matrix product c with few rows and a long inner dimension k among threads, such as the derivative by a
/// layer's weights. There are too few rows to divide, but each block of k can be summed on its own. The block sums are
/// then added in order, as `multiply` does.
template <class Real>
void share_blocks(const Product<Real>& p) {
  constexpr int64_t most_held = int64_t{1} << 18;
  const int64_t entries = p.m * p.n, blocks = (p.k + product_block - 1) / product_block;
  const int64_t round = std::min(blocks, std::max(most_held / entries, pieces));
  std::vector<Real> sums(static_cast<size_t>(round * entries));
  for (int64_t from = 0; from < blocks; from += round) {
    const int64_t count = std::min(round, blocks - from);
    parallel(count, std::max<int64_t>(1, count / (2 * pieces)), [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) {
        Product<Real> one = p;
        const int64_t k = (from + i) * product_block;
        one.a.data += k * (p.a.transposed ? p.a.stride : 1);
        one.b.data += k * (p.b.transposed ? 1 : p.b.stride);
        one.k = std::min(product_block, p.k - k);
        one.c = sums.data() + i * entries;
        multiply(one);
      }
    });
    for (int64_t i = 0; i < count; ++i) {
      const Real* const sum = sums.data() + i * entries;
      const bool add = from + i > 0;
      for (int64_t e = 0; e < entries; ++e) p.c[e] = add ? p.c[e] + sum[e] : sum[e];
    }
  }
}

}  // namespace

template <class Real>
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const Real* a, const Real* b,
            Real* c) {
  if (m == 0 || n == 0) return;
  const int64_t stride_a = transpose_a ? m : k;
  const Factor<Real> right{b, transpose_b ? k : n, transpose_b};
  const bool shared = m * std::max(n, least_size) * std::max(k, least_size) >= worth_sharing;
  if (shared && transpose_a && m <= few_rows && k >= long_sum && threads() > 1)
    return share_blocks(Product<Real>{{a, stride_a, true}, right, m, n, k, c, n});
  const int64_t share = std::min((m + pieces - 1) / pieces, most_work / std::max<int64_t>(1, n * k));
  const int64_t grain = !shared ? m : std::max(least_rows, share);
  parallel(m, grain, [&](int64_t first, int64_t last) {
    const Factor<Real> left{a + first * (transpose_a ? 1 : stride_a), stride_a, transpose_a};
    // number of columns computed between two checks for Ctrl-C; a multiple of the vector length, so that the order of
    // each sum does not change
    const int64_t columns = std::max<int64_t>(1024, most_work / std::max<int64_t>(1, grain * k) / 1024 * 1024);
    for (int64_t at = 0; at < n; at += columns) {
      check_interrupt();
      Factor<Real> part = right;
      part.data += at * (transpose_b ? part.stride : 1);
      multiply(Product<Real>{left, part, last - first, std::min(columns, n - at), k, c + first * n + at, n});
    }
  });
}

template void matmul<float>(bool, bool, int64_t, int64_t, int64_t, const float*, const float*, float*);
template void matmul<double>(bool, bool, int64_t, int64_t, int64_t, const double*, const double*, double*);

}  // namespace mr::cpu
