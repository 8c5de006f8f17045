// The smoothed distribution function F~ of a metric over random rankings, as a table of G = logit F~ and its slopes at
// equally spaced knots, read by cubic Hermite interpolation. Also the bounds that are F~, log F~ or logit F~ of the
// metric (Westerborg 2022, Eq. 3.12).
#pragma once

#include <cmath>

#include "kernels/core/logarithms.h"
#include "kernels/core/view.h"

namespace mr {

/// A table of G = logit F~, where F~ is the smoothed distribution function of a metric. Knot k lies at first + k step
/// and has knots[2 k] = G and knots[2 k + 1] = G'. A table without knots belongs to a list whose metric is the same
/// for all orderings. A table with one knot stands for F~ = 1/2 everywhere.
struct LogitView {
  const double* knots = nullptr;
  int64_t count = 0;
  double first = 0, step = 0;
};

struct LogitPoint {
  double logit, slope;
};

/// Returns G, the logit of the smoothed distribution function, and its derivative at the metric's value s. Outside the
/// range of the knots, G is extrapolated linearly.
MR_HD inline LogitPoint logit_at(const LogitView& table, double s) {
  if (table.count < 2) return {0, 0};
  const double position = (s - table.first) / table.step;
  const int64_t end = table.count - 1;
  if (!(position > 0) || position >= static_cast<double>(end)) {
    const int64_t k = position > 0 ? end : 0;
    const double slope = table.knots[2 * k + 1];
    return {table.knots[2 * k] + slope * (s - table.first - static_cast<double>(k) * table.step), slope};
  }
  const auto k = static_cast<int64_t>(position);
  const double* const knot = table.knots + 2 * k;
  const double u = position - static_cast<double>(k), rise = knot[2] - knot[0];
  const double from = table.step * knot[1], to = table.step * knot[3];
  const double square = 3 * rise - 2 * from - to, cube = from + to - 2 * rise;
  return {knot[0] + u * (from + u * (square + u * cube)), (from + u * (2 * square + u * 3 * cube)) / table.step};
}

/// The form of a bound, where F~ is the smoothed distribution function of the metric: F~ itself; its logarithm (for
/// metrics to be minimized, -log(1 - F~)); or its logit.
enum class DistributionForm : int8_t { cdf, log, logit };

/// Returns the logistic function 1 / (1 + exp(-t)), without overflow.
MR_HD inline double logistic(double t) {
  const double e = portable::exp(-std::fabs(t));
  return t >= 0 ? 1 / (1 + e) : e / (1 + e);
}

/// Computes the bounded value of every list and its derivative by the metric. Both are 0 for a list whose metric is
/// the same for all orderings.
template <class Real>
struct DistributionBound {
  Span<const LogitView> tables;
  Span<const Real> score;
  DistributionForm form;
  bool minimize;
  Span<Real> value, derivative;

  MR_HD void operator()(int64_t list) const {
    double bounded = 0, slope = 0;
    if (tables[list].count > 0) {
      const LogitPoint at = logit_at(tables[list], static_cast<double>(score[list]));
      const double side = minimize ? -1 : 1;
      switch (form) {
        case DistributionForm::cdf:
          bounded = logistic(at.logit);
          slope = at.slope * bounded * logistic(-at.logit);
          break;
        case DistributionForm::log: {
          // computes log sigma(t), for the logistic function sigma, without loss of digits where sigma(t) is near 1
          const double t = side * at.logit;
          bounded = side * (t >= 0 ? -portable::log1p(portable::exp(-t)) : t - portable::log1p(portable::exp(t)));
          slope = at.slope * logistic(-t);
          break;
        }
        case DistributionForm::logit:
          bounded = at.logit;
          slope = at.slope;
          break;
      }
    }
    value[list] = static_cast<Real>(bounded);
    derivative[list] = static_cast<Real>(slope);
  }
};

}  // namespace mr
