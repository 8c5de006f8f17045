// Steps of rows without a gradient that are put off until the row has one or somebody looks (README.md).
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/view.h"
#include "kernels/models/glide.h"

namespace mr {

/// The rows `rows` (counted from 0) as they were stored, and what has been put off since; without `square` they move
/// by SGD with momentum. glide[i] is the number of row i's glide, or -1 where nothing was put off.
template <class Real>
struct DeferredRows {
  Real *base, *mean, *square;
  const int64_t* rows;
  const int32_t* glide;
  const Glide<Real>* glides;
  const Real *weights, *places;
  int64_t width;

  /// What an entry loses.
  MR_HD Real lost(const Glide<Real>& g, Real m, Real v) const {
    if (square == nullptr) return m * g.top[0];
    const Real root = std::sqrt(v);
    if (g.terms > 0) {
      Real total = 0;
      for (int64_t k = g.first; k < g.first + g.terms; ++k) total += weights[k] / (root + places[k]);
      return m * total;
    }
    const Real inverse = 1 / (root + g.reach), u = g.reach * inverse;
    const Real above = g.top[0] + u * (g.top[1] + u * g.top[2]);
    return m * inverse * above / (1 + u * (g.bottom[0] + u * (g.bottom[1] + u * g.bottom[2])));
  }
};

/// out = these rows as they are now; what is stored stays.
template <class Real>
struct SettleRows {
  DeferredRows<Real> at;
  Real* out;
  MR_HD void operator()(int64_t i) const {
    const int64_t row = i / at.width, entry = at.rows[row] * at.width + i % at.width;
    const int32_t g = at.glide[row];
    Real lost = 0;
    if (g >= 0) lost = at.lost(at.glides[g], at.mean[entry], at.square == nullptr ? Real(0) : at.square[entry]);
    out[entry] = at.base[entry] - lost;
  }
};

/// Stores these rows as they are now, then moves them by Adam (AdamStep) or SGD with momentum along row i of the
/// gradient, and shows them.
template <class Real>
struct StepRows {
  DeferredRows<Real> at;
  const Real* gradient;
  Real* shown;
  Real rate, correction, beta1, beta2, epsilon;  // of SGD: the learning rate and, as beta1, the momentum
  MR_HD void operator()(int64_t i) const {
    const int64_t row = i / at.width, entry = at.rows[row] * at.width + i % at.width;
    Real m = at.mean[entry], v = at.square == nullptr ? Real(0) : at.square[entry], p = at.base[entry];
    if (at.glide[row] >= 0) {
      const Glide<Real>& g = at.glides[at.glide[row]];
      p -= at.lost(g, m, v);
      m *= g.mean_left;
      v *= g.square_left;
    }
    const Real along = gradient[i];
    if (at.square == nullptr) {
      m = beta1 * m + along;
      p -= rate * m;
    } else {
      m = beta1 * m + (1 - beta1) * along;
      v = beta2 * v + (1 - beta2) * along * along;
      p -= rate * m / (std::sqrt(v * correction) + epsilon);
      at.square[entry] = v;
    }
    at.mean[entry] = m;
    at.base[entry] = shown[entry] = p;
  }
};

}  // namespace mr
