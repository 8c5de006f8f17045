// Pointwise losses compare each row with its own grade. A list's value is the mean over its rows, or 0 without rows.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// (f - y)^2.
struct SquaredError {
  MR_HD double value(double f, double y) const { return (f - y) * (f - y); }
  MR_HD double slope(double f, double y) const { return 2 * (f - y); }
};

/// The binary cross entropy of sigma(f), where f is a row's score. The target is 1 for a relevant row and 0 for
/// another row.
struct BinaryCrossEntropy {
  double threshold = 1;
  MR_HD double value(double f, double y) const { return softplus(y >= threshold ? -f : f); }
  MR_HD double slope(double f, double y) const { return y >= threshold ? -sigmoid(-f) : sigmoid(f); }
};

/// The squared hinge loss: max(0, 1 - f)^2 of relevant rows, max(0, 1 + f)^2 of others.
struct SquaredHinge {
  double threshold = 1;
  static MR_HD double short_by(double f) { return f < 1 ? 1 - f : 0; }
  MR_HD double value(double f, double y) const {
    const double by = short_by(y >= threshold ? f : -f);
    return by * by;
  }
  MR_HD double slope(double f, double y) const { return y >= threshold ? -2 * short_by(f) : 2 * short_by(-f); }
};

/// Computes the loss of every list, and its derivative by every score unless `derivative` is null.
template <class Real, class Form>
struct PointwiseLoss {
  Form form;
  Span<const Real> scores;
  Span<const float> relevance;
  Ragged lists;
  Span<Real> value, derivative;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const double total = group.sum(n, [&](int64_t i) {
      const double f = scores[at + i], y = relevance[at + i];
      if (derivative.data != nullptr) derivative[at + i] = static_cast<Real>(form.slope(f, y) / static_cast<double>(n));
      return form.value(f, y);
    });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(n > 0 ? total / static_cast<double>(n) : 0.0); });
  }
};
template <class Real>
using SquaredErrorLoss = PointwiseLoss<Real, SquaredError>;
template <class Real>
using BinaryCrossEntropyLoss = PointwiseLoss<Real, BinaryCrossEntropy>;
template <class Real>
using SquaredHingeLoss = PointwiseLoss<Real, SquaredHinge>;

/// Cumulative logits (McCullagh 1980): the sum over levels k of the binary cross entropy of sigma(f - threshold_k).
/// Its target is 1 if the row's grade is at least k, else 0. Also computes the derivative by the thresholds, one row
/// of it per list.
template <class Real>
struct OrdinalLoss {
  Span<const Real> thresholds;
  Span<const Real> scores;
  Span<const float> relevance;
  Ragged lists;
  Span<Real> value, derivative, by_threshold;

  template <class Group>
  MR_HD void operator()(const Group& group, int64_t list) const {
    const int64_t at = lists.begin(list), n = lists.size(list);
    const double rows = n > 0 ? static_cast<double>(n) : 1.0;
    const double total = group.sum(n, [&](int64_t i) {
      double sum = 0, slope = 0;
      for (int64_t k = 0; k < thresholds.size; ++k) {
        const auto [f, form, y] = level(at + i, k);
        sum += form.value(f, y);
        slope += form.slope(f, y);
      }
      if (derivative.data != nullptr) derivative[at + i] = static_cast<Real>(slope / rows);
      return sum;
    });
    group.each(1, [&](int64_t) { value[list] = static_cast<Real>(total / rows); });
    for (int64_t k = 0; by_threshold.data != nullptr && k < thresholds.size; ++k) {
      const double slope = group.sum(n, [&](int64_t i) {
        const auto [f, form, y] = level(at + i, k);
        return -form.slope(f, y);
      });
      group.each(1, [&](int64_t) { by_threshold[list * thresholds.size + k] = static_cast<Real>(slope / rows); });
    }
  }

 private:
  struct Level {
    double f;
    BinaryCrossEntropy form;
    double y;
  };
  MR_HD Level level(int64_t row, int64_t k) const {
    const double f = static_cast<double>(scores[row]) - static_cast<double>(thresholds[k]);
    return {f, {static_cast<double>(k + 1)}, static_cast<double>(relevance[row])};
  }
};

}  // namespace mr
