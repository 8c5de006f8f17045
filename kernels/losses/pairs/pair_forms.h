// Costs of a pair of rows. Each cost is a function of t = a (s_j - s_i), which is positive if a better row i and a
// worse row j are in the wrong order. One formula serves single numbers on CPU and GPU, and SIMD vectors on the CPU.
//
// A cost is a class with these members:
//   operator()(math, t, weight): the cost at t and its slope there, both times the weight. `math` computes softplus,
//     sigmoid and tanh: PlainMath below for numbers, LaneMath in pair_form_sums_loops.h for vectors.
//   curvature(math, t): the second derivative, or a replacement that is not negative, for trees. A cost that only
//     LambdaRank's option `pair` takes has none.
//   A member variable, if the class has one, is the cost's parameter, for example the margin of the hinge.
//
// To add a loss, write the class and its row in MR_PAIR_FORMS, a function in stdlib/moonrank/losses/pairwise.lua, and
// the expected values in tests/stdlib/moonrank/losses/pairs_spec.lua, and update the fingerprints (README.md). The row
// makes the kernels of both devices, the CPU's loops, the functions for Lua and the tests in tests/kernels.
#pragma once

#include "kernels/core/hd.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

/// The value of a function and its slope.
template <class Number>
struct ValueAndSlope {
  Number value, slope;
};

/// softplus, sigmoid and tanh of single numbers, which the costs of pairs call. A weight is double even where the
/// numbers are float.
template <class Real>
struct PlainMath {
  using Number = Real;
  using Weight = double;
  static MR_HD Number number(double x) { return static_cast<Real>(x); }
  /// log(1 + e^t).
  static MR_HD ValueAndSlope<Real> softplus(Real t) {
    const Logistic<Real> of(t);
    return {of.softplus(), of.sigmoid()};
  }
  /// Returns the logistic function 1 / (1 + e^-t) and its slope, both times a weight.
  static MR_HD ValueAndSlope<double> sigmoid(Real t, double weight) {
    const Logistic<Real> of(t);
    return {weight * of.sigmoid(), weight * of.slope()};
  }
  static MR_HD ValueAndSlope<Real> tanh(Real t) {
    // Computes the slope 1 - tanh(t)^2 as 4 e / (1 + e)^2, which loses no digits to cancellation.
    const Real e = portable::exp(-2 * std::fabs(t));
    return {portable::tanh(t), 4 * e / ((1 + e) * (1 + e))};
  }
};

/// A pair's cost and slope, both times its weight.
template <class Math>
using PairTerms = ValueAndSlope<typename Math::Weight>;

/// The cost log(1 + e^t) (RankNet; Burges et al. 2005).
struct LogisticPair {
  template <class Math>
  MR_HD PairTerms<Math> operator()(Math, typename Math::Number t, typename Math::Weight weight) const {
    const auto of = Math::softplus(t);
    return {weight * of.value, weight * of.slope};
  }
  template <class Math>
  MR_HD static typename Math::Number curvature(Math, typename Math::Number t) {
    return curvature_at_sigmoid(Math::softplus(t).slope);
  }
  template <class Number>
  MR_HD static Number curvature_at_sigmoid(Number s) {
    return s * (1 - s);
  }
};

/// The cost sigma(t), a smooth count of wrongly ordered pairs.
struct SigmoidPair {
  template <class Math>
  MR_HD PairTerms<Math> operator()(Math, typename Math::Number t, typename Math::Weight weight) const {
    // `sigmoid` is called with the weight and multiplies by it, which saves a product
    const auto of = Math::sigmoid(t, weight);
    return {of.value, of.slope};
  }
};

/// The cost max(0, margin + t) (RankSVM; Joachims 2002).
struct HingePair {
  double margin = 1;
  template <class Math>
  MR_HD PairTerms<Math> operator()(Math, typename Math::Number t, typename Math::Weight weight) const {
    const typename Math::Number by = Math::number(margin) + t;
    const typename Math::Weight none{};
    return {by > 0 ? weight * by : none, by > 0 ? weight : none};
  }
  /// Returns 1 where the hinge has a slope, else 0, as in XGBoost's binary:hinge. The exact second derivative is 0
  /// everywhere, and with it a Newton step would be impossible.
  template <class Math>
  MR_HD typename Math::Weight curvature(Math math, typename Math::Number t) const {
    return (*this)(math, t, Math::number(1)).slope;
  }
};

/// The cost log(1 + e^tanh(t)) (DirectRanker; Köppel et al. 2019).
struct TanhPair {
  template <class Math>
  MR_HD PairTerms<Math> operator()(Math, typename Math::Number t, typename Math::Weight weight) const {
    const auto inner = Math::tanh(t);
    const auto outer = Math::softplus(inner.value);
    return {weight * outer.value, weight * (outer.slope * inner.slope)};
  }
  /// Returns the Gauss-Newton curvature: that of the logistic cost times the square of tanh's slope. The exact second
  /// derivative is negative where tanh bends.
  template <class Math>
  MR_HD static typename Math::Number curvature(Math math, typename Math::Number t) {
    const auto inner = Math::tanh(t);
    return LogisticPair::curvature(math, inner.value) * inner.slope * inner.slope;
  }
};

}  // namespace mr

/// The costs of a pair, one row per cost.
/// LOSS(name, Form, parameter, formula): a loss in which every pair of unequal grades has the weight 1. Lua gets
///   core.<name>_loss and core.<name>_derivatives. `parameter` names the member variable of Form or,
///   if Form has none, the steepness.
/// CHANGE(name, Form): a cost that LambdaRank's option `pair` selects by this name. The option's default "logistic" has
///   no row; it is LogisticPair.
#define MR_PAIR_FORMS(LOSS, CHANGE)                                                      \
  LOSS(ranknet, LogisticPair, steepness, "log(1 + exp(-steepness (s_i - s_j)))")         \
  LOSS(direct_ranker, TanhPair, steepness, "log(1 + exp(-tanh(steepness (s_i - s_j))))") \
  LOSS(hinge, HingePair, margin, "max(0, margin - (s_i - s_j))")                         \
  CHANGE(sigmoid, SigmoidPair)
#define MR_NO_PAIR_FORM(...)
