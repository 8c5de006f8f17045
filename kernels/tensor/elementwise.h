// Functions of one entry or of a pair of entries, each with its derivative beside it, and the kernels that apply them.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/rng.h"
#include "kernels/core/view.h"
#include "kernels/tensor/normal.h"

namespace mr {

template <class Real>
MR_HD Real sigmoid(Real t) {
  // exp of a negative number only: no overflow on either side
  const Real e = std::exp(-std::fabs(t));
  return t >= 0 ? 1 / (1 + e) : e / (1 + e);
}

/// log(1 + e^t) without overflow.
template <class Real>
MR_HD Real softplus(Real t) {
  return (t > 0 ? t : Real(0)) + std::log1p(std::exp(-std::fabs(t)));
}

#define MR_UNARY(Name, value_of_x, derivative_at_x)                  \
  template <class Real>                                              \
  struct Name {                                                      \
    static MR_HD Real value(Real x) { return value_of_x; }           \
    static MR_HD Real derivative(Real x) { return derivative_at_x; } \
  };
MR_UNARY(NegOf, -x, (static_cast<void>(x), Real(-1)))
MR_UNARY(ExpOf, std::exp(x), std::exp(x))
MR_UNARY(LogOf, std::log(x), 1 / x)
MR_UNARY(SqrtOf, std::sqrt(x), Real(0.5) / std::sqrt(x))
MR_UNARY(AbsOf, std::fabs(x), x > 0 ? Real(1) : x < 0 ? Real(-1) : Real(0))
MR_UNARY(SigmoidOf, sigmoid(x), sigmoid(x) * sigmoid(-x))
MR_UNARY(TanhOf, std::tanh(x), 1 - std::tanh(x) * std::tanh(x))
MR_UNARY(ReluOf, x > 0 ? x : Real(0), x > 0 ? Real(1) : Real(0))
MR_UNARY(SoftplusOf, softplus(x), sigmoid(x))
#undef MR_UNARY

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

/// Base raised to a power; at base 0 the derivative by the exponent is 0, as the limit from above.
#define MR_BINARY(Name, value_of_ab, derivative_by_a, derivative_by_b)                                   \
  template <class Real>                                                                                  \
  struct Name {                                                                                          \
    static MR_HD Real value(Real a, Real b) { return value_of_ab; }                                      \
    static MR_HD Real by_a([[maybe_unused]] Real a, [[maybe_unused]] Real b) { return derivative_by_a; } \
    static MR_HD Real by_b([[maybe_unused]] Real a, [[maybe_unused]] Real b) { return derivative_by_b; } \
  };
MR_BINARY(AddOf, a + b, 1, 1)
MR_BINARY(SubOf, a - b, 1, -1)
MR_BINARY(MulOf, a* b, b, a)
MR_BINARY(DivOf, a / b, 1 / b, -a / (b * b))
MR_BINARY(PowOf, std::pow(a, b), b == 0 ? Real(0) : b * std::pow(a, b - 1),
          a > 0 ? std::pow(a, b) * std::log(a) : Real(0))
// of two equal entries each takes half of the derivative
MR_BINARY(MaximumOf,
          a > b    ? a
          : a < b  ? b
          : a == b ? a
                   : a + b,
          a > b   ? Real(1)
          : a < b ? Real(0)
                  : Real(0.5),
          a > b   ? Real(0)
          : a < b ? Real(1)
                  : Real(0.5))
MR_BINARY(MinimumOf,
          a<b ? a : a> b ? b
          : a == b       ? a
                         : a + b,
          a<b ? Real(1) : a> b ? Real(0) : Real(0.5), a<b ? Real(0) : a> b ? Real(1) : Real(0.5))
MR_BINARY(GreaterOf, a > b ? Real(1) : Real(0), 0, 0)
MR_BINARY(GreaterEqualOf, a >= b ? Real(1) : Real(0), 0, 0)
MR_BINARY(EqualOf, a == b ? Real(1) : Real(0), 0, 0)
#undef MR_BINARY

template <class Real, class Function>
struct Binary {
  Span<const Real> a, b;
  Span<Real> out;
  Broadcast from_a, from_b;
  MR_HD void operator()(int64_t i) const { out[i] = Function::value(a[from_a(i)], b[from_b(i)]); }
};

/// Writes the derivative per entry of the result; a null target is not asked for.
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

/// out = condition != 0 ? a : b, and the two masked halves for the derivative.
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
    // rounding may reach the end that the interval is without
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
