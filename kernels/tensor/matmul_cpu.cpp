#include <algorithm>

#include "kernels/core/threads.h"
#include "kernels/tensor/matmul.h"

namespace mr::cpu {
namespace {

/// Below this many multiplications starting other threads takes longer than the product.
constexpr int64_t worth_sharing = 4'000'000;
/// Rows of a piece: enough for a block of b to be worth its way into the cache.
constexpr int64_t least_rows = 16, pieces = 8;
/// Multiplications of a piece at most, between which Ctrl-C is seen: tenths of a second.
constexpr int64_t most_work = 2'000'000'000;

}  // namespace

template <class Real>
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const Real* a, const Real* b,
            Real* c) {
  if (m == 0 || n == 0) return;
  const int64_t stride_a = transpose_a ? m : k;
  const Factor<Real> right{b, transpose_b ? k : n, transpose_b};
  const int64_t share = std::min((m + pieces - 1) / pieces, most_work / std::max<int64_t>(1, n * k));
  const int64_t grain = m * n * k < worth_sharing ? m : std::max(least_rows, share);
  parallel(m, grain, [&](int64_t first, int64_t last) {
    const Factor<Real> left{a + first * (transpose_a ? 1 : stride_a), stride_a, transpose_a};
    multiply(Product<Real>{left, right, last - first, n, k, c + first * n, n});
  });
}

template void matmul<float>(bool, bool, int64_t, int64_t, int64_t, const float*, const float*, float*);
template void matmul<double>(bool, bool, int64_t, int64_t, int64_t, const double*, const double*, double*);

}  // namespace mr::cpu
