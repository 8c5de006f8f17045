// Inner loops of factor models and of optimizers, compiled once per instruction set. No operations are fused and sums
// run in sequence, so every set gives the same bits as the reference kernels. The exception is `inner_products`, which
// fuses operations where the processor can, so that its last bits may differ between instruction sets.
#pragma once

#include <cstdint>

#include "kernels/core/simd/simd.h"
#include "kernels/models/optim.h"

namespace mr::cpu {

/// The settings of AdamStep, which are constant over all entries.
template <class Real>
struct AdamRates {
  Real rate, correction, beta1, beta2, epsilon, decay;
};

/// The rows that AdamStep updates: row rows[i] (counted from 0; all rows if null). Its derivative is row slot[row] of
/// `gradient`: its own row if `slot` is null, zero if the slot is negative.
template <class Real>
struct AdamRows {
  Real *parameter, *mean, *square;
  const Real* gradient;
  const int64_t *rows, *slot;
  int64_t width;
};

/// Describes n weighted rows: row index[k] (counted from 1) of a matrix with `width` columns, with weight
/// weights[order[k]], or weights[k] if `order` is null.
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
  /// Runs AdamStep for the updated rows with positions `first` to `last` - 1.
  void (*adam)(const AdamRows<Real>& at, int64_t first, int64_t last, const AdamRates<Real>& rates);
  /// Computes products[k] = inner product of `vector` and row index[k] of the matrix. Weights are not used.
  void (*inner_products)(const Real* vector, const WeighedRows<Real>& rows, Real* products);
  /// Computes the sum of the weighted rows, in sequence, into `sums`.
  void (*sum_rows)(const WeighedRows<Real>& rows, Real* sums);
  /// Run SgdStep and RootStep for the n entries from `at` on, whose derivatives are consecutive.
  void (*sgd)(const SgdStep<Real>& step, int64_t at, const Real* gradient, int64_t n);
  void (*root)(const RootStep<Real>& step, int64_t at, const Real* gradient, int64_t n);
};

template <class Real>
const TrainingLoops<Real>& training_loops() {
  return chosen_loops<TrainingLoops<Real>>();
}

}  // namespace mr::cpu
