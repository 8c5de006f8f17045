// Matrix products on the CPU, written without a library: libraries choose block sizes by the processor's caches and
// registers, but the bits of a result must not depend on the processor.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"

namespace mr::cpu {

/// A factor of a matrix product. The matrix is row-major, with rows `stride` entries apart; if `transposed`, its
/// transpose is used.
template <class Real>
struct Factor {
  const Real* data;
  int64_t stride;
  bool transposed = false;
};

/// A matrix product: c = scale a b, or c += scale a b if `add` is true. c has m x n entries and rows `stride` entries
/// apart; k is the number of columns of a and of rows of b.
template <class Real>
struct Product {
  Factor<Real> a, b;
  int64_t m, n, k;
  Real* c;
  int64_t stride;
  Real scale = 1;
  bool add = false;
};

/// Length of a block of a matrix product's inner dimension. The terms of a block are summed, and the block sums are
/// added in order.
constexpr int64_t product_block = 128;

template <class Real>
struct ProductLoops {
  void (*multiply)(const Product<Real>& product);
};

template <class Real>
void multiply(const Product<Real>& product) {
  chosen_loops<ProductLoops<Real>>().multiply(product);
}

/// Computes the matrix product c (m x n) = op(a) op(b) of row-major matrices, with inner dimension k. op transposes if
/// the argument transpose_a or transpose_b is true. Large products use all threads, in parts that do not depend on the
/// number of threads.
template <class Real>
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const Real* a, const Real* b, Real* c);

}  // namespace mr::cpu
