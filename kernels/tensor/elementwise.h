// Functions of one entry or of a pair of entries, each with its derivative, and the kernels that apply them.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/powers.h"
#include "kernels/core/rng.h"
#include "kernels/core/view.h"
#include "kernels/tensor/normal.h"

namespace mr {

/// Computes logistic functions of t from e^-|t|, which cannot overflow and is computed once.
template <class Real>
struct Logistic {
  Real t, e;
  MR_HD explicit Logistic(Real of) : t(of), e(portable::exp(-std::fabs(of))) {}
  MR_HD Real sigmoid() const { return t >= 0 ? 1 / (1 + e) : e / (1 + e); }
  /// The derivative of the sigmoid, sigma(t) sigma(-t).
  MR_HD Real slope() const { return 1 / (1 + e) * (e / (1 + e)); }
  /// log(1 + e^t).
  MR_HD Real softplus() const { return (t > 0 ? t : Real(0)) + portable::log1p(e); }
};

template <class Real>
MR_HD Real sigmoid(Real t) {
  return Logistic<Real>(t).sigmoid();
}

template <class Real>
MR_HD Real softplus(Real t) {
  return Logistic<Real>(t).softplus();
}

// Each class below is a function of one entry x of a tensor: value(x) computes it, and derivative(x) its derivative.

template <class Real>
struct NegOf {
  static MR_HD Real value(Real x) { return -x; }
  static MR_HD Real derivative(Real) { return -1; }
};

template <class Real>
struct ExpOf {
  static MR_HD Real value(Real x) { return portable::exp(x); }
  static MR_HD Real derivative(Real x) { return portable::exp(x); }
};

template <class Real>
struct LogOf {
  static MR_HD Real value(Real x) { return portable::log(x); }
  static MR_HD Real derivative(Real x) { return 1 / x; }
};

template <class Real>
struct SqrtOf {
  static MR_HD Real value(Real x) { return std::sqrt(x); }
  static MR_HD Real derivative(Real x) { return Real(0.5) / std::sqrt(x); }
};

/// Absolute value. Its derivative is 0 at 0 and NaN at NaN.
template <class Real>
struct AbsOf {
  static MR_HD Real value(Real x) { return std::fabs(x); }
  static MR_HD Real derivative(Real x) { return x > 0 ? Real(1) : x < 0 ? Real(-1) : x == 0 ? Real(0) : x; }
};

template <class Real>
struct SigmoidOf {
  static MR_HD Real value(Real x) { return sigmoid(x); }
  static MR_HD Real derivative(Real x) { return Logistic<Real>(x).slope(); }
};

template <class Real>
struct TanhOf {
  static MR_HD Real value(Real x) { return portable::tanh(x); }
  static MR_HD Real derivative(Real x) { return 1 - portable::tanh(x) * portable::tanh(x); }
};

/// The relu function, max(x, 0). At x = NaN it is NaN with derivative 1, so that a NaN is not hidden.
template <class Real>
struct ReluOf {
  static MR_HD Real value(Real x) { return x <= 0 ? Real(0) : x; }
  static MR_HD Real derivative(Real x) { return x <= 0 ? Real(0) : Real(1); }
};

template <class Real>
struct SoftplusOf {
  static MR_HD Real value(Real x) { return softplus(x); }
  static MR_HD Real derivative(Real x) { return sigmoid(x); }
};

template <class Real, class Function>
struct Unary {
  Span<const Real> in;
  Span<Real> out;
  MR_HD void operator()(int64_t i) const { out[i] = Function::value(in[i]); }
};

template <class Real, class Function>
struct UnaryVjp {
  Span<const Real> in, upstream;
  Span<Real> out;
  MR_HD void operator()(int64_t i) const { out[i] = upstream[i] * Function::derivative(in[i]); }
};

// Each class below is a function of two entries: `value` computes it, and `by_a` and `by_b` its derivatives by each
// entry. Comparisons give 1 or 0 and have no derivative.

template <class Real>
struct AddOf {
  static MR_HD Real value(Real a, Real b) { return a + b; }
  static MR_HD Real by_a(Real, Real) { return 1; }
  static MR_HD Real by_b(Real, Real) { return 1; }
};

template <class Real>
struct SubOf {
  static MR_HD Real value(Real a, Real b) { return a - b; }
  static MR_HD Real by_a(Real, Real) { return 1; }
  static MR_HD Real by_b(Real, Real) { return -1; }
};

template <class Real>
struct MulOf {
  static MR_HD Real value(Real a, Real b) { return a * b; }
  static MR_HD Real by_a(Real, Real b) { return b; }
  static MR_HD Real by_b(Real a, Real) { return a; }
};

template <class Real>
struct DivOf {
  static MR_HD Real value(Real a, Real b) { return a / b; }
  static MR_HD Real by_a(Real, Real b) { return 1 / b; }
  static MR_HD Real by_b(Real a, Real b) { return -a / (b * b); }
};

/// Power a^b. Its derivative by the exponent is a^b log a, or 0 for a base a <= 0. For a NaN base it is NaN.
template <class Real>
struct PowOf {
  static MR_HD Real value(Real a, Real b) { return portable::pow(a, b); }
  static MR_HD Real by_a(Real a, Real b) { return b == 0 ? Real(0) : b * portable::pow(a, b - 1); }
  static MR_HD Real by_b(Real a, Real b) { return a <= 0 ? Real(0) : portable::pow(a, b) * portable::log(a); }
};

/// Maximum of two entries. If they are equal, each gets half of the derivative. The maximum of NaN and a number is NaN.
template <class Real>
struct MaximumOf {
  static MR_HD Real value(Real a, Real b) {
    if (a > b) return a;
    if (a < b) return b;
    return a == b ? a : a + b;
  }
  static MR_HD Real by_a(Real a, Real b) { return a > b ? Real(1) : a < b ? Real(0) : Real(0.5); }
  static MR_HD Real by_b(Real a, Real b) { return by_a(b, a); }
};

template <class Real>
struct MinimumOf {
  static MR_HD Real value(Real a, Real b) {
    if (a < b) return a;
    if (a > b) return b;
    return a == b ? a : a + b;
  }
  static MR_HD Real by_a(Real a, Real b) { return a < b ? Real(1) : a > b ? Real(0) : Real(0.5); }
  static MR_HD Real by_b(Real a, Real b) { return by_a(b, a); }
};

template <class Real>
struct GreaterOf {
  static MR_HD Real value(Real a, Real b) { return a > b ? Real(1) : Real(0); }
};

template <class Real>
struct GreaterEqualOf {
  static MR_HD Real value(Real a, Real b) { return a >= b ? Real(1) : Real(0); }
};

template <class Real>
struct EqualOf {
  static MR_HD Real value(Real a, Real b) { return a == b ? Real(1) : Real(0); }
};

template <class Real, class Function>
struct Binary {
  Span<const Real> a, b;
  Span<Real> out;
  Broadcast from_a = {}, from_b = {};
  MR_HD void operator()(int64_t i) const { out[i] = Function::value(a[from_a(i)], b[from_b(i)]); }
};

/// Multiplies the upstream derivative by the derivatives of a function of two operands, for each entry of the result. A
/// null output (`by_a` or `by_b`) is not computed.
template <class Real, class Function>
struct BinaryVjp {
  Span<const Real> a, b, upstream;
  Span<Real> by_a, by_b;
  Broadcast from_a, from_b;
  MR_HD void operator()(int64_t i) const {
    const Real x = a[from_a(i)], y = b[from_b(i)];
    if (by_a.data) by_a[i] = upstream[i] * Function::by_a(x, y);
    if (by_b.data) by_b[i] = upstream[i] * Function::by_b(x, y);
  }
};

/// Chooses entry by entry: out = a where `condition` is not 0, else b. The backward pass uses it with the upstream
/// derivative as one operand and 0 as the other.
template <class Real>
struct Select {
  Span<const Real> condition, a, b;
  Span<Real> out;
  Broadcast from_condition, from_a, from_b;
  MR_HD void operator()(int64_t i) const { out[i] = condition[from_condition(i)] != 0 ? a[from_a(i)] : b[from_b(i)]; }
};

template <class Real>
struct RandomUniform {
  Span<Real> out;
  RandomKey key;
  double low, high;
  MR_HD void operator()(int64_t i) const {
    const auto x = static_cast<Real>(low + (high - low) * uniform(key, static_cast<uint64_t>(i)));
    // Random numbers come from an interval that excludes `high`, but rounding may give `high`. The next smaller number
    // is then taken instead.
    out[i] = x < static_cast<Real>(high) || low == high
                 ? x
                 : std::nextafter(static_cast<Real>(high), static_cast<Real>(low));
  }
};

template <class Real>
struct RandomNormal {
  Span<Real> out;
  RandomKey key;
  double mean, sd;
  MR_HD void operator()(int64_t i) const {
    out[i] = static_cast<Real>(mean + sd * normal(key, static_cast<uint64_t>(i)));
  }
};

}  // namespace mr
