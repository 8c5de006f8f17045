// Steps of the optimizers other than Adam (adam.h). A gradient is dense, or sparse by rows. If it is sparse, `slot`
// gives for every row of the parameter its row in the gradient.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/view.h"

namespace mr {

/// A parameter's gradient. If it is dense (`slot` is null), `values` has the shape of the parameter. If it is sparse,
/// the gradient of row r of the parameter is row slot[r] of `values`, or zero if slot[r] is -1.
template <class Real>
struct GradientView {
  const Real* values = nullptr;
  const int64_t* slot = nullptr;
  int64_t width = 1;
  MR_HD Real operator()(int64_t entry) const {
    if (slot == nullptr) return values[entry];
    const int64_t row = slot[entry / width];
    return row < 0 ? Real(0) : values[row * width + entry % width];
  }
};

/// Visits the entries of the rows `rows` (counted from 0), or all entries if `rows` is null.
struct EntriesOfRows {
  const int64_t* rows = nullptr;
  int64_t width = 1;
  MR_HD int64_t operator()(int64_t i) const { return rows == nullptr ? i : rows[i / width] * width + i % width; }
};

/// A step of SGD: p -= lr (g + decay p), or with momentum v = mu v + g, p -= lr v.
template <class Real>
struct SgdStep {
  Real* parameter;
  Real* velocity;
  GradientView<Real> gradient;
  EntriesOfRows entries;
  Real lr, momentum, decay;
  MR_HD void operator()(int64_t i) const {
    const int64_t at = entries(i);
    Real g = gradient(at) + decay * parameter[at];
    if (velocity != nullptr) g = velocity[at] = momentum * velocity[at] + g;
    parameter[at] -= lr * g;
  }
};

template <class Real>
struct Shrink {
  Real* parameter;
  Real factor;
  EntriesOfRows entries = {};
  MR_HD void operator()(int64_t i) const { parameter[entries(i)] *= factor; }
};

/// Steps that divide by the root of a sum of squares: v = keep v + add g^2, d = g / (sqrt(v) + eps), or with momentum u
/// = mu u + d, d = u; p -= lr d. RMSProp (Hinton 2012): keep = alpha, add = 1 - alpha. Adagrad (Duchi et al. 2011):
/// keep = add = 1.
template <class Real>
struct RootStep {
  Real* parameter;
  Real* square;
  Real* velocity;
  GradientView<Real> gradient;
  EntriesOfRows entries;
  Real lr, keep, add, momentum, epsilon, decay;
  MR_HD void operator()(int64_t i) const {
    const int64_t at = entries(i);
    const Real g = gradient(at) + decay * parameter[at];
    const Real v = square[at] = keep * square[at] + add * g * g;
    Real d = g / (std::sqrt(v) + epsilon);
    if (velocity != nullptr) d = velocity[at] = momentum * velocity[at] + d;
    parameter[at] -= lr * d;
  }
};

/// Prepares the lookup of a sparse gradient: for the i-th row number in `rows`, sets slot[row] to i, or to -1 if
/// `clear`. Unless `from0` is null, also writes the row numbers, counted from 0, to `from0`.
template <class Real>
struct SetSlots {
  IndexView rows;
  int64_t* slot;
  int64_t* from0;
  bool clear;
  MR_HD void operator()(int64_t i) const {
    slot[rows[i]] = clear ? -1 : i;
    if (from0 != nullptr) from0[i] = rows[i];
  }
};

}  // namespace mr
