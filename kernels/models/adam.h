// Adam steps for one or several parameters, and step counters on the GPU.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/powers.h"
#include "kernels/models/optim.h"

namespace mr {

/// Computes the bias corrections of step t: of the mean (contained in the learning rate) and of the mean of squares.
/// With `lazy`, as in torch.optim.SparseAdam, the learning rate contains both and `correction` is 1, so that epsilon is
/// not corrected.
struct AdamRate {
  double rate;        // learning rate with bias correction; lr / (1 - beta1^t) unless `lazy`
  double correction;  // bias correction of squares; 1 / (1 - beta2^t) unless `lazy`
};
MR_HD inline AdamRate adam_rate(double lr, double beta1, double beta2, int64_t t, bool lazy) {
  const double left1 = 1 - portable::pow(beta1, static_cast<double>(t)),
               left2 = 1 - portable::pow(beta2, static_cast<double>(t));
  if (lazy) return {lr * std::sqrt(left2) / left1, 1};
  return {lr / left1, 1 / left2};
}

/// Adam (Kingma & Ba 2015, algorithm 1), epsilon outside the root: p -= lr m^ / (sqrt(v^) + eps). The learning rate is
/// passed in, or read from the GPU's step counter (AdamClock).
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

/// Adam steps of several parameters in one launch.
template <class Real>
struct AdamSteps {
  static constexpr int most = 24;
  AdamStep<Real> step[most];
  int64_t first[most + 1] = {};  // first[k]: number of entries of all parameters before parameter k
  MR_HD void operator()(int64_t i) const {
    int k = 0;
    while (i >= first[k + 1]) ++k;
    step[k](i - first[k]);
  }
};

/// Counts a step of these parameters in counters on the GPU, so that the count also advances when a recorded launch
/// runs again.
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
