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

inline float root_of(float x) { return __builtin_sqrtf(x); }
inline double root_of(double x) { return __builtin_sqrt(x); }

template <class Real>
void sgd_run(const SgdStep<Real>& w, int64_t at, const Real* __restrict gradient, int64_t n) {
  Real* __restrict const parameter = w.parameter + at;
  const Real lr = w.lr, momentum = w.momentum, decay = w.decay;
  if (w.velocity == nullptr) {
    for (int64_t i = 0; i < n; ++i) parameter[i] -= lr * (gradient[i] + decay * parameter[i]);
    return;
  }
  Real* __restrict const velocity = w.velocity + at;
  for (int64_t i = 0; i < n; ++i) {
    velocity[i] = momentum * velocity[i] + (gradient[i] + decay * parameter[i]);
    parameter[i] -= lr * velocity[i];
  }
}

template <class Real>
void root_run(const RootStep<Real>& w, int64_t at, const Real* __restrict gradient, int64_t n) {
  Real* __restrict const parameter = w.parameter + at, * __restrict const square = w.square + at;
  const Real lr = w.lr, keep = w.keep, add = w.add, momentum = w.momentum, epsilon = w.epsilon, decay = w.decay;
  const auto along = [&](int64_t i) {
    const Real g = gradient[i] + decay * parameter[i];
    square[i] = keep * square[i] + add * g * g;
    return g / (root_of(square[i]) + epsilon);
  };
  if (w.velocity == nullptr) {
    for (int64_t i = 0; i < n; ++i) parameter[i] -= lr * along(i);
    return;
  }
  Real* __restrict const velocity = w.velocity + at;
  for (int64_t i = 0; i < n; ++i) {
    velocity[i] = momentum * velocity[i] + along(i);
    parameter[i] -= lr * velocity[i];
  }
}

template <class Real>
TrainingLoops<Real> training() {
  return {.adam = &adam<Real>,
          .inner_products = &inner_products<Real>,
          .sum_rows = &sum_rows<Real>,
          .sgd = &sgd_run<Real>,
          .root = &root_run<Real>};
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
