// Costs of a pair of rows and their slopes. They are functions of t = a (s_j - s_i), which is positive if a better row
// i and a worse row j are in the wrong order.
#pragma once

#include "kernels/core/hd.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// log(1 + e^t) (RankNet; Burges et al. 2005).
struct LogisticPair {
  template <class Real>
  MR_HD Real value(Real t) const {
    return softplus(t);
  }
  template <class Real>
  MR_HD Real slope(Real t) const {
    return sigmoid(t);
  }
  /// The second derivative.
  MR_HD static double curvature(double t) {
    const double s = sigmoid(t);
    return s * (1 - s);
  }
};

/// sigma(t), a smooth count of wrongly ordered pairs.
struct SigmoidPair {
  template <class Real>
  MR_HD Real value(Real t) const {
    return sigmoid(t);
  }
  template <class Real>
  MR_HD Real slope(Real t) const {
    return sigmoid(t) * sigmoid(-t);
  }
};

/// max(0, margin + t) (RankSVM; Joachims 2002).
struct HingePair {
  double margin = 1;
  template <class Real>
  MR_HD Real value(Real t) const {
    const Real by = static_cast<Real>(margin) + t;
    return by > 0 ? by : Real(0);
  }
  template <class Real>
  MR_HD Real slope(Real t) const {
    return static_cast<Real>(margin) + t > 0 ? Real(1) : Real(0);
  }
  /// 1 where there is a slope, as in XGBoost's binary:hinge: the second derivative is 0, with which no step is taken.
  MR_HD double curvature(double t) const { return slope(t); }
};

/// log(1 + e^tanh(t)) (DirectRanker; Köppel et al. 2019).
struct TanhPair {
  template <class Real>
  MR_HD Real value(Real t) const {
    return softplus(portable::tanh(t));
  }
  template <class Real>
  MR_HD Real slope(Real t) const {
    // 1 - tanh(t)^2, without cancellation
    const Real e = portable::exp(-2 * std::fabs(t));
    return sigmoid(portable::tanh(t)) * (4 * e / ((1 + e) * (1 + e)));
  }
  /// Gauss-Newton curvature: that of the logistic cost times the square of tanh's slope. The exact second derivative is
  /// negative where tanh bends.
  MR_HD static double curvature(double t) {
    const double e = portable::exp(-2 * std::fabs(t)), steep = 4 * e / ((1 + e) * (1 + e));
    return LogisticPair::curvature(portable::tanh(t)) * steep * steep;
  }
};

}  // namespace mr
