// Steps of the optimisers. A gradient is dense, or given for some rows; `slot` then says which row of it belongs to a
// parameter row.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/view.h"

namespace mr {

/// Where the derivative of a parameter entry is: dense, or row slot[row] of the values (-1: zero).
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

/// Entries of the rows `rows` (counted from 0), or all entries where `rows` is null.
struct EntriesOfRows {
  const int64_t* rows = nullptr;
  int64_t width = 1;
  MR_HD int64_t operator()(int64_t i) const { return rows == nullptr ? i : rows[i / width] * width + i % width; }
};

/// p -= lr (g + decay p), or with momentum v = mu v + g, p -= lr v.
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

/// Adam (Kingma & Ba 2015, algorithm 1), epsilon outside the root: p -= lr m^ / (sqrt(v^) + eps).
template <class Real>
struct AdamStep {
  Real* parameter;
  Real* mean;
  Real* square;
  GradientView<Real> gradient;
  EntriesOfRows entries;
  Real rate;        // lr / (1 - beta1^t)
  Real correction;  // 1 / (1 - beta2^t)
  Real beta1, beta2, epsilon, decay;
  MR_HD void operator()(int64_t i) const {
    const int64_t at = entries(i);
    const Real g = gradient(at) + decay * parameter[at];
    const Real m = mean[at] = beta1 * mean[at] + (1 - beta1) * g;
    const Real v = square[at] = beta2 * square[at] + (1 - beta2) * g * g;
    parameter[at] -= rate * m / (std::sqrt(v * correction) + epsilon);
  }
};

}  // namespace mr
