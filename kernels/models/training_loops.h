// The loops of training_cpu.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by training_*.cpp
// only.
#include "kernels/core/prefetch.h"
#include "kernels/core/simd/lane_sums.h"
#include "kernels/core/simd/lanes.h"
#include "kernels/models/adam_loops.h"
#include "kernels/models/training_cpu.h"

namespace mr::cpu::MR_SIMD {
namespace {

template <class Real>
void inner_products(const Real* vector, const WeighedRows<Real>& rows, Real* products) {
  for (int64_t k = 0; k < rows.n; ++k) {
    if (k + rows_ahead < rows.n) prefetch_row<false>(rows.matrix, rows.index[k + rows_ahead] - 1, rows.width);
    products[k] = inner_product(vector, rows.matrix + (rows.index[k] - 1) * rows.width, rows.width);
  }
}

/// Computes the sum of weighted rows for a few columns only: from column c on, as many as `vectors` SIMD vectors have
/// lanes.
template <int vectors, class Real>
void sum_columns(const WeighedRows<Real>& rows, int64_t c, Real* sums) {
  using L = Lanes<Real>;
  typename L::Vector total[vectors] = {};
  for (int64_t k = 0; k < rows.n; ++k) {
    const Real* const row = rows.matrix + (rows.index[k] - 1) * rows.width + c;
    const Real weight = rows.weights[rows.order ? rows.order[k] : k];
    for (int v = 0; v < vectors; ++v) total[v] += weight * L::load(row + v * L::count);
  }
  for (int v = 0; v < vectors; ++v) L::store(sums + c + v * L::count, total[v]);
}

template <class Real>
void sum_rows(const WeighedRows<Real>& rows, Real* sums) {
  using L = Lanes<Real>;
  int64_t c = 0;
  for (; c + 8 * L::count <= rows.width; c += 8 * L::count) sum_columns<8>(rows, c, sums);
  for (; c + 4 * L::count <= rows.width; c += 4 * L::count) sum_columns<4>(rows, c, sums);
  for (; c + L::count <= rows.width; c += L::count) sum_columns<1>(rows, c, sums);
  for (; c < rows.width; ++c) {
    Real total = 0;
    for (int64_t k = 0; k < rows.n; ++k)
      total += rows.weights[rows.order ? rows.order[k] : k] * rows.matrix[(rows.index[k] - 1) * rows.width + c];
    sums[c] = total;
  }
}

template <class Real>
TrainingLoops<Real> training() {
  return {.adam = &adam<Real>, .inner_products = &inner_products<Real>, .sum_rows = &sum_rows<Real>};
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
TrainingLoops<float> loops_of<TrainingLoops<float>, Simd::MR_SIMD>() {
  return MR_SIMD::training<float>();
}
template <>
TrainingLoops<double> loops_of<TrainingLoops<double>, Simd::MR_SIMD>() {
  return MR_SIMD::training<double>();
}

}  // namespace mr::cpu
