// Matrix products on the CPU, written without a library: libraries choose block sizes by the processor's caches and
// registers, but the bits of a result must not depend on the processor.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

/// A row-major matrix whose rows are `stride` entries apart; if `transposed`, its transpose.
template <class Real>
struct Factor {
  const Real* data;
  int64_t stride;
  bool transposed = false;
};

/// A matrix product: c (m x n, rows `stride` apart) = scale a b, or c += scale a b if `add`. k is the inner size.
template <class Real>
struct Product {
  Factor<Real> a, b;
  int64_t m, n, k;
  Real* c;
  int64_t stride;
  Real scale = 1;
  bool add = false;
};

/// Sums over k are split into blocks of this size, and the block sums are added in order.
constexpr int64_t product_block = 128;

template <class Real>
struct ProductLoops {
  void (*multiply)(const Product<Real>& product);
};

template <class Real>
void multiply(const Product<Real>& product) {
  chosen_loops<ProductLoops<Real>>().multiply(product);
}

/// Computes c (m x n) = op(a) op(b) of row-major matrices. op transposes if the flag is set; k is the inner size. Large
/// products use all threads, in parts that do not depend on the number of threads.
template <class Real>
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const Real* a, const Real* b, Real* c);

}  // namespace mr::cpu
