// Steps of the optimisers. A gradient is dense, or given for some rows; `slot` then says which row of it belongs to a
// parameter row.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/powers.h"
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

/// p *= factor.
template <class Real>
struct Shrink {
  Real* parameter;
  Real factor;
  MR_HD void operator()(int64_t i) const { parameter[i] *= factor; }
};

/// Steps over the root of squares: v = keep v + add g^2, d = g / (sqrt(v) + eps), or with momentum u = mu u + d, d = u;
/// p -= lr d. RMSProp (Hinton 2012): keep = alpha, add = 1 - alpha. Adagrad (Duchi et al. 2011): keep = add = 1.
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

/// slot[row] = index of the row in `rows`, or -1 where `clear`; from0, where given, counts the rows from 0.
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

/// Corrections of step t: of lr by the mean's bias, and of the squares' mean. `lazy`, as torch.optim.SparseAdam:
/// epsilon is not corrected.
struct AdamRate {
  double rate;        // lr / (1 - beta1^t)
  double correction;  // 1 / (1 - beta2^t)
};
MR_HD inline AdamRate adam_rate(double lr, double beta1, double beta2, int64_t t, bool lazy) {
  const double left1 = 1 - portable::pow(beta1, static_cast<double>(t)),
               left2 = 1 - portable::pow(beta2, static_cast<double>(t));
  if (lazy) return {lr * std::sqrt(left2) / left1, 1};
  return {lr / left1, 1 / left2};
}

/// Adam (Kingma & Ba 2015, algorithm 1), epsilon outside the root: p -= lr m^ / (sqrt(v^) + eps). The rate is given, or
/// read where the GPU counts steps (AdamClock).
template <class Real>
struct AdamStep {
  Real* parameter;
  Real* mean;
  Real* square;
  GradientView<Real> gradient;
  EntriesOfRows entries;
  Real rate, correction;
  Real beta1, beta2, epsilon, decay;
  const AdamRate* clock = nullptr;
  MR_HD void operator()(int64_t i) const {
    const int64_t at = entries(i);
    const Real g = gradient(at) + decay * parameter[at];
    const Real m = mean[at] = beta1 * mean[at] + (1 - beta1) * g;
    const Real v = square[at] = beta2 * square[at] + (1 - beta2) * g * g;
    const Real step = clock == nullptr ? rate : static_cast<Real>(clock->rate);
    const Real scale = clock == nullptr ? correction : static_cast<Real>(clock->correction);
    parameter[at] -= step * m / (std::sqrt(v * scale) + epsilon);
  }
};

/// Steps of several parameters in one launch.
template <class Real>
struct AdamSteps {
  static constexpr int most = 24;
  AdamStep<Real> step[most];
  int64_t first[most + 1] = {};  // entries before each
  MR_HD void operator()(int64_t i) const {
    int k = 0;
    while (i >= first[k + 1]) ++k;
    step[k](i - first[k]);
  }
};

/// Counts a step of these parameters where the GPU keeps the counts, so that launches that are run again go on
/// counting.
template <class Real>
struct AdamClock {
  int64_t* steps;
  AdamRate* rates;
  int32_t parameter[AdamSteps<Real>::most] = {};
  double lr, beta1, beta2;
  bool lazy;
  MR_HD void operator()(int64_t i) const {
    const int32_t p = parameter[i];
    rates[p] = adam_rate(lr, beta1, beta2, ++steps[p], lazy);
  }
};

}  // namespace mr
