// Inner loops of factor models and of Adam. Compiled once per instruction set; but for `inner_products` nothing is
// fused and sums run one after the other, so all sets give the same bits as the plain kernels.
#pragma once

#include <cstdint>

#include "kernels/core/simd.h"

namespace mr::cpu {

/// The numbers of AdamStep that are the same for all entries.
template <class Real>
struct AdamRates {
  Real rate, correction, beta1, beta2, epsilon, decay;
};

/// The rows that AdamStep moves: row rows[i] (counted from 0; all rows where null), whose derivative is row
/// slot[row] of `gradient` (the row's own where `slot` is null; below 0: zero).
template <class Real>
struct AdamRows {
  Real *parameter, *mean, *square;
  const Real* gradient;
  const int64_t *rows, *slot;
  int64_t width;
};

/// Row k of n: row index[k] (counted from 1) of a matrix with `width` columns, weighed by weights[order[k]], or by
/// weights[k] where `order` is null.
template <class Real>
struct WeighedRows {
  const Real* matrix;
  const int64_t* index;
  const Real* weights;
  const int64_t* order;
  int64_t n, width;
};

template <class Real>
struct TrainingLoops {
  /// AdamStep for rows `first` to `last` - 1 of those that are moved.
  void (*adam)(const AdamRows<Real>& at, int64_t first, int64_t last, const AdamRates<Real>& rates);
  /// products[k] = inner product of `vector` and row index[k] of the matrix; the weights are not read.
  void (*inner_products)(const Real* vector, const WeighedRows<Real>& rows, Real* products);
  /// sums = the weighed rows added up, one after the other.
  void (*sum_rows)(const WeighedRows<Real>& rows, Real* sums);
};

template <class Real>
const TrainingLoops<Real>& training_loops() {
  return chosen_loops<TrainingLoops<Real>>();
}

}  // namespace mr::cpu
