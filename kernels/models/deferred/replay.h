// Replayed updates: the steps that a row without a gradient has missed, taken one by one while its numbers are in
// registers. Results are the bits of steps that visit every row (README.md).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/models/deferred/glide.h"

namespace mr {

/// The settings of an optimizer on which its step for a row without a gradient depends. Root (RMSProp and Adagrad with
/// weight decay): `beta1` is the momentum; squares become keep v + add g^2. Adam: `keep` is beta2; a step may multiply
/// the parameter first (AdamW), and then `decay` is 0.
struct StepRule {
  StepKind kind = StepKind::adam;
  double beta1 = 0, keep = 0, add = 0, epsilon = 0, decay = 0, shrinks = 0;
  bool has_mean() const { return kind == StepKind::adam || beta1 > 0; }
  /// True if the optimizer also changes rows that never had a gradient, as weight decay does.
  bool moves_all() const { return decay > 0 || shrinks > 0; }
  bool operator==(const StepRule&) const = default;
};

/// The settings of an optimizer step that rows without a gradient have missed. `rate`: learning rate (Adam: divided by
/// the bias correction of the mean). `correction`: bias correction of squares. `factor`: what AdamW's weight decay
/// multiplies the parameter by.
template <class Real>
struct MissedStep {
  Real rate, correction, factor;
};

/// Takes the steps steps[from[i]] to steps[now - 1] of row rows[i], counted from 0, without a gradient. Then sets
/// `since` of the row to `now`.
template <class Real>
struct ReplayRows {
  Real *parameter, *mean, *square;  // `mean` is null if the optimizer stores no mean gradient
  const int64_t* rows;
  const int32_t* from;
  const MissedStep<Real>* steps;
  int32_t* since;
  int32_t now;
  int64_t width;
  StepKind kind;
  Real beta1, keep, add, epsilon, decay;

  MR_HD void operator()(int64_t i) const {
    const int64_t row = rows[i / width], c = i % width, at = row * width + c;
    Real p = parameter[at], m = mean != nullptr ? mean[at] : Real(0), v = square[at];
    for (int32_t k = from[i / width]; k < now; ++k) step(p, m, v, steps[k]);
    parameter[at] = p;
    if (mean != nullptr) mean[at] = m;
    square[at] = v;
    if (c + 1 == width) since[row] = now;
  }

 private:
  /// Takes a step: the operations of RootStep or AdamStep, in their order, with a gradient of zero.
  MR_HD void step(Real& p, Real& m, Real& v, const MissedStep<Real>& s) const {
    if (kind == StepKind::adam) {
      p *= s.factor;
      const Real g = Real(0) + decay * p;
      m = beta1 * m + (1 - beta1) * g;
      v = keep * v + (1 - keep) * g * g;
      p -= s.rate * m / (std::sqrt(v * s.correction) + epsilon);
      return;
    }
    Real d = Real(0) + decay * p;
    v = keep * v + add * d * d;
    d = d / (std::sqrt(v) + epsilon);
    if (mean != nullptr) d = m = beta1 * m + d;
    p -= s.rate * d;
  }
};

}  // namespace mr
