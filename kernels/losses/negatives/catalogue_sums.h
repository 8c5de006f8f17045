// Logarithms of sums of e^(score / tau) over a whole catalogue, one block of items after another: the scores of all
// users for a block are a matrix, and nothing else of that size is stored.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/view.h"

namespace mr {

/// Adds a block of scores f [users, width] to the sum of e^(f / tau) that is accumulated for each user. To avoid
/// overflow the sum is stored as `totals` times e^`tops`.
template <class Real>
struct AddToLogSums {
  Span<const Real> scores;
  int64_t width;
  double tau;
  Span<double> tops, totals;
  Span<Real> value;  // logarithm of each user's sum, over all blocks of items so far
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t user) const {
    const int64_t at = user * width;
    const double most =
        group.max(width, tops[user], [&](int64_t i) { return static_cast<double>(scores[at + i]) / tau; });
    const double sum =
        group.sum(width, [&](int64_t i) { return portable::exp(static_cast<double>(scores[at + i]) / tau - most); });
    group.each(1, [&](int64_t) { put(user, most, sum); });
  }
  /// Adds `sum` times e^`most` to a user's accumulated sum, which is stored as total times e^top. `most` becomes the
  /// new top and is not below the old one.
  MR_HD void put(int64_t user, double most, double sum) const {
    const double before = tops[user], total = totals[user] * portable::exp(before == most ? 0 : before - most) + sum;
    tops[user] = most;
    totals[user] = total;
    value[user] = static_cast<Real>(portable::log(total) + most);
  }
};

/// For each user the loss has the logarithm of the sum of e^(score / tau) over the catalogue. This functor replaces a
/// block of scores by the derivatives of these logarithms by the scores, times `upstream`.
template <class Real>
struct CatalogueWeights {
  Span<Real> scores;
  int64_t width;
  double tau;
  Span<const double> tops, totals;
  Span<const Real> upstream;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t user) const {
    const int64_t at = user * width;
    const double top = tops[user], of_user = scale(user);
    group.each(width, [&](int64_t i) {
      Real& of = scores[at + i];
      of = static_cast<Real>(of_user * portable::exp(static_cast<double>(of) / tau - top));
    });
  }
  MR_HD double scale(int64_t user) const { return static_cast<double>(upstream[user]) / (totals[user] * tau); }
};

}  // namespace mr
