// Products of matrices on the CPU, our own since their bits must not depend on the processor: those of libraries choose
// blocks by its caches and registers.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

/// A row-major matrix, rows `stride` entries apart; `transposed`: its transpose is meant.
template <class Real>
struct Factor {
  const Real* data;
  int64_t stride;
  bool transposed = false;
};

/// c (m x n, rows `stride` apart) = scale a b, or c += scale a b where `add`; k is the inner size.
template <class Real>
struct Product {
  Factor<Real> a, b;
  int64_t m, n, k;
  Real* c;
  int64_t stride;
  Real scale = 1;
  bool add = false;
};

/// Sums go over so many k at a time, and these are added in order.
constexpr int64_t product_block = 128;

template <class Real>
struct ProductLoops {
  void (*multiply)(const Product<Real>& product);
};

/// On the calling thread.
template <class Real>
void multiply(const Product<Real>& product) {
  chosen_loops<ProductLoops<Real>>().multiply(product);
}

/// Row-major c (m x n) = op(a) op(b), where op transposes if told to and k is the inner size. Large products are shared
/// by all threads, in pieces that do not depend on how many those are.
template <class Real>
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const Real* a, const Real* b, Real* c);

}  // namespace mr::cpu
