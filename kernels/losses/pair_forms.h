// What a pair of rows costs: functions of t = a (s_j - s_i), by how much the pair of a better row i and a worse row j
// is in the wrong order, and their slopes.
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
};

}  // namespace mr
