// Deferred updates: optimizer steps of rows without a gradient wait until the row gets a gradient or is read
// (README.md).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/view.h"
#include "kernels/models/deferred/glide.h"

namespace mr {

/// A stored row of a parameter: its numbers, then their mean gradients and mean squared gradients, if the optimizer has
/// them.
template <class Real>
struct StoredRow {
  Real *base, *mean, *square;
};

/// The rows of a parameter, counted from 0, that are read or updated now, as stored before their deferred updates. For
/// row rows[i], glide[i] says which updates are deferred: the number of a Glide (their closed form), -1 for none, or
/// `shown_glide` of the number if the parameter already shows the result.
template <class Real>
struct DeferredRows {
  Real* stored;
  StepKind kind;
  bool has_mean, has_square;
  const int64_t* rows;
  const int32_t* glide;
  const Glide<Real>* glides;
  const Real *weights, *places;
  int64_t width;

  /// Returns the number of row i's Glide (the closed form of its deferred updates), decoded if `shown_glide` has
  /// encoded it.
  MR_HD int32_t glide_of(int64_t i) const { return glide[i] >= -1 ? glide[i] : shown_glide(glide[i]); }
  /// Encodes the number of a Glide, to mark that the parameter already shows the row with its deferred updates
  /// applied, so that they are not computed twice. Applying the function again decodes the number.
  static MR_HD int32_t shown_glide(int32_t number) { return -2 - number; }

  /// Returns the number of tables in a stored row (numbers, means, squares).
  MR_HD int64_t tables() const { return 1 + (has_mean ? 1 : 0) + (has_square ? 1 : 0); }
  MR_HD StoredRow<Real> row(int64_t number) const {
    Real* const base = stored + number * width * tables();
    return {base, has_mean ? base + width : nullptr, has_square ? base + width * (has_mean ? 2 : 1) : nullptr};
  }
  /// Returns the amount that the deferred updates subtract from an entry with mean gradient m and mean square v.
  MR_HD Real lost(const Glide<Real>& g, Real m, Real v) const {
    if (kind != StepKind::adam) return m * g.top[0];
    const Real root = std::sqrt(v);
    if (g.terms > 0) {
      Real total = 0;
      for (int64_t k = g.first; k < g.first + g.terms; ++k) total += weights[k] / (root + places[k]);
      return m * total;
    }
    if (g.low) {
      const Real far = root + g.reach;
      return m * (g.top[0] * far + g.reach * g.top[1]) /
             (far * far + g.reach * (g.bottom[0] * far + g.bottom[1] * g.reach));
    }
    const Real inverse = 1 / (root + g.reach), u = g.reach * inverse;
    const Real above = g.top[0] + u * (g.top[1] + u * g.top[2]);
    return m * inverse * above / (1 + u * (g.bottom[0] + u * (g.bottom[1] + u * g.bottom[2])));
  }
};

/// Computes the current values of rows with deferred updates into `out`. The stored rows do not change.
template <class Real>
struct SettleRows {
  DeferredRows<Real> at;
  Real* out;
  MR_HD void operator()(int64_t i) const {
    const int64_t number = at.rows[i / at.width], c = i % at.width;
    const StoredRow<Real> row = at.row(number);
    Real p = row.base[c];
    if (at.glide[i / at.width] >= 0) {
      const Glide<Real>& g = at.glides[at.glide[i / at.width]];
      p *= g.kept;
      if (at.has_mean) p -= at.lost(g, row.mean[c], at.has_square ? row.square[c] : Real(0));
    }
    out[number * at.width + c] = p;
  }
};

/// Applies the deferred updates of the given rows, and then an optimizer step with their gradients. The i-th of these
/// rows has row i of `gradient`. The result is also written into the parameter. The step has the operations of
/// SgdStep, RootStep or AdamStep.
template <class Real>
struct StepRows {
  DeferredRows<Real> at;
  const Real* gradient;
  Real* shown;
  Real rate, correction, beta1, beta2, epsilon;  // with SGD and RMSProp, `beta1` is the momentum
  // Settings of an optimizer step for the mean square v, gradient g and parameter p. RMSProp: v becomes beta2 v + add
  // g^2. SGD: g becomes g + decay p. AdamW: p is first multiplied by `factor`.
  Real add, decay, factor;

  MR_HD void operator()(int64_t i) const {
    const int64_t number = at.rows[i / at.width], c = i % at.width;
    const StoredRow<Real> row = at.row(number);
    const int32_t behind = at.glide_of(i / at.width);
    Real p = row.base[c], m = at.has_mean ? row.mean[c] : Real(0), v = at.has_square ? row.square[c] : Real(0);
    if (behind >= 0) {
      const Glide<Real>& g = at.glides[behind];
      const Real stored = p;
      if (at.glide[i / at.width] < 0) {
        p = shown[number * at.width + c];
      } else {
        p *= g.kept;
        if (at.has_mean) p -= at.lost(g, m, v);
      }
      m *= g.mean_left;
      if (decay != 0) m += g.pull * stored;
      v *= g.square_left;
    }
    step(p, m, v, gradient[i]);
    if (at.has_square) row.square[c] = v;
    if (at.has_mean) row.mean[c] = m;
    row.base[c] = shown[number * at.width + c] = p;
  }

 private:
  MR_HD void step(Real& p, Real& m, Real& v, Real along) const {
    if (at.kind == StepKind::adam) {
      p *= factor;
      m = beta1 * m + (1 - beta1) * along;
      v = beta2 * v + (1 - beta2) * along * along;
      p -= rate * m / (std::sqrt(v * correction) + epsilon);
      return;
    }
    if (decay != 0) along += decay * p;
    if (at.kind == StepKind::root) {
      v = beta2 * v + add * along * along;
      along = along / (std::sqrt(v) + epsilon);
    }
    if (at.has_mean) along = m = beta1 * m + along;
    p -= rate * along;
  }
};

}  // namespace mr
