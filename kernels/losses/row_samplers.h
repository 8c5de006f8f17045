// Samplers draw, for a relevant row, one of the rows of its list that are not relevant ("other rows"), and compute the
// cost of the pair. A draw depends only on the key, the relevant row and the number of the draw.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/rng.h"
#include "kernels/core/view.h"
#include "kernels/losses/pairs/pair_forms.h"
#include "kernels/smooth/smooth_rank.h"

namespace mr {

/// A pair's cost, its slope and its curvature (pair_forms.h). `other` is the drawn row's position in the list, or -1 if
/// no row was drawn.
struct DrawnPair {
  int64_t other = -1;
  double value = 0, slope = 0, curvature = 0;
};

/// The input of a sampler, which draws other rows for one relevant row: the row's list and scores, and the key of the
/// random numbers.
template <class Real>
struct RowDraws {
  Span<const Real> scores;
  Chosen relevant;
  RandomKey key;
  int64_t list, at, others, row;
  uint64_t number;  // number of the relevant row in the whole batch, even if a part of the batch is computed

  /// Returns the position, in the list, of its k-th row that is not relevant.
  MR_HD int64_t other(int64_t k) const {
    // `low` and `high` bound the number of relevant rows before the k-th other row. Bisection narrows them until they
    // meet.
    int64_t low = 0, high = relevant.size(list);
    while (low < high) {
      const int64_t middle = (low + high) / 2;
      if (relevant(list, middle) - middle <= k) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return k + low;
  }
  /// Returns the position, in the list, of the other row of a draw in which all other rows are equally likely.
  MR_HD int64_t position(uint64_t draw) const {
    if (others == 1) return other(0);
    return other(static_cast<int64_t>(bounded(philox(key, number, draw).low(), static_cast<uint64_t>(others))));
  }
  MR_HD double wrong_by(int64_t other) const {
    return score_difference(static_cast<double>(scores[at + other]), static_cast<double>(scores[row]), 1.0);
  }
  MR_HD DrawnPair logistic(int64_t other) const {
    const auto pair = PlainMath<double>::softplus(wrong_by(other));
    return {other, pair.value, pair.slope, LogisticPair::curvature_at_sigmoid(pair.slope)};
  }
};

/// BPR (Rendle et al. 2009): - log sigma(s_i - s_j), where all other rows j are equally likely.
struct UniformSampler {
  template <class Real>
  MR_HD DrawnPair operator()(const RowDraws<Real>& of, int64_t number) const {
    return of.logistic(of.position(static_cast<uint64_t>(number)));
  }
};

/// LambdaFM's dynamic sampling (Yuan et al. 2016): draws `candidates` rows with equal probabilities and takes the row
/// at rank r by score with probability proportional to exp(-r / (candidates rho)). Ranks count from 0. Among rows with
/// equal scores, the one that was drawn first comes first.
struct RankedSampler {
  static constexpr int64_t most = 128;
  int64_t candidates;
  double rho;

  template <class Real>
  MR_HD DrawnPair operator()(const RowDraws<Real>& of, int64_t number) const {
    const auto first = static_cast<uint64_t>(number * (candidates + 1));
    return of.logistic(at_rank(of, first + 1, rank(philox(of.key, of.number, first))));
  }

  /// Draws the rank of the row to take, with probability proportional to exp(-rank / (candidates rho)), by inverting
  /// the distribution function.
  MR_HD int64_t rank(const Random128& bits) const {
    const double u = static_cast<double>(bits.low() >> 11) * 0x1p-53, total = 1 - portable::exp(-1 / rho);
    const double r = -portable::log1p(-u * total) * static_cast<double>(candidates) * rho;
    return r < static_cast<double>(candidates - 1) ? static_cast<int64_t>(r) : candidates - 1;
  }

 private:
  template <class Real>
  MR_HD int64_t at_rank(const RowDraws<Real>& of, uint64_t first, int64_t rank) const {
    int64_t best[most];  // the best rows drawn so far, at most rank + 1, by descending score
    int64_t held = 0;
    for (int64_t c = 0; c < candidates; ++c) {
      const int64_t drawn = of.position(first + static_cast<uint64_t>(c));
      int64_t place = held;
      while (place > 0 && of.scores[of.at + best[place - 1]] < of.scores[of.at + drawn]) --place;
      if (place > rank) continue;
      if (held <= rank) ++held;
      for (int64_t k = held - 1; k > place; --k) best[k] = best[k - 1];
      best[place] = drawn;
    }
    return best[rank];
  }
};

/// WARP (Weston et al. 2011): draws rows with equal probabilities until one has a hinge loss above 0, at most `trials`
/// times, or as often as there are other rows if `trials` is 0. If draw k succeeds, the hinge loss is multiplied by
/// L(others / k), where L(n) = 1 + 1/2 + ... + 1/n.
struct WarpSampler {
  double margin;
  int64_t trials;
  Span<const double> harmonic;  // L(0), L(1), ...

  template <class Real>
  MR_HD DrawnPair operator()(const RowDraws<Real>& of, int64_t number) const {
    const int64_t most = trials > 0 ? trials : of.others;
    const HingePair hinge{margin};
    for (int64_t k = 1; k <= most; ++k) {
      const int64_t other = of.position(static_cast<uint64_t>(number * most + k - 1));
      const double t = of.wrong_by(other);
      const auto pair = hinge(PlainMath<double>{}, t, 1);
      if (pair.slope == 0) continue;
      const double weight = harmonic[of.others / k];
      return {other, weight > 0 ? weight * pair.value : 0, weight, weight * hinge.curvature(PlainMath<double>{}, t)};
    }
    return {};
  }
};

}  // namespace mr
