// A fully connected layer without its two matrix products. Forward is y = f(z + bias) in one pass over z. Backward is
// dz = g f'(z) in one pass, together with sums of dz over ranges of rows (pieces), which are added to the bias gradient
// in order. f'(z) is computed from y, so z is not stored.
#pragma once

#include <cstdint>

#include "kernels/core/functions.h"
#include "kernels/core/group.h"
#include "kernels/core/view.h"
#include "kernels/tensor/elementwise.h"

namespace mr {

enum class Activation : int8_t { none, relu, tanh, sigmoid, softplus };

// Each class below is an activation: `value` is a function of z, and `derivative` is a function of y = value(z).

template <class Real>
struct NoActivation {
  static MR_HD Real value(Real z) { return z; }
  static MR_HD Real derivative(Real) { return 1; }
};

template <class Real>
struct ReluActivation {
  static MR_HD Real value(Real z) { return ReluOf<Real>::value(z); }
  static MR_HD Real derivative(Real y) { return ReluOf<Real>::derivative(y); }
};

template <class Real>
struct TanhActivation {
  static MR_HD Real value(Real z) { return portable::tanh(z); }
  static MR_HD Real derivative(Real y) { return 1 - y * y; }
};

template <class Real>
struct SigmoidActivation {
  static MR_HD Real value(Real z) { return sigmoid(z); }
  static MR_HD Real derivative(Real y) { return y * (1 - y); }
};

template <class Real>
struct SoftplusActivation {
  static MR_HD Real value(Real z) { return softplus(z); }
  static MR_HD Real derivative(Real y) { return -portable::expm1(-y); }
};

/// Calls run(activation) with the activation's type.
template <class Real, class Run>
MR_HD void with_activation(Activation kind, Run run) {
  switch (kind) {
    case Activation::none:
      return run(NoActivation<Real>{});
    case Activation::relu:
      return run(ReluActivation<Real>{});
    case Activation::tanh:
      return run(TanhActivation<Real>{});
    case Activation::sigmoid:
      return run(SigmoidActivation<Real>{});
    case Activation::softplus:
      return run(SoftplusActivation<Real>{});
  }
}

/// Overwrites z with y = f(z + bias), row by row.
template <class Real>
struct LayerForward {
  Span<Real> z;
  Span<const Real> bias;
  Activation activation;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t row) const {
    Real* const at = z.data + row * bias.size;
    with_activation<Real>(activation, [&](auto f) {
      group.each(bias.size, [&](int64_t c) { at[c] = decltype(f)::value(at[c] + bias[c]); });
    });
  }
};

/// Backward pass of a layer's activation: computes dz, the derivative by the layer's sums z before the activation.
/// sums[piece] gets the sum of dz over the rows of a range (piece).
template <class Real>
struct LayerVjp {
  static constexpr int64_t piece_rows = 32;
  Span<const Real> y, upstream;
  Span<Real> dz;
  Span<double> sums;
  int64_t rows, width;
  Activation activation;
  template <class Group>
  MR_HD void operator()(const Group& group, int64_t piece) const {
    const int64_t first = piece * piece_rows, left = rows - first, n = left < piece_rows ? left : piece_rows;
    with_activation<Real>(activation, [&](auto f) {
      group.each(width, [&](int64_t c) {
        double total = 0;
        for (int64_t r = first; r < first + n; ++r) {
          const int64_t i = r * width + c;
          const Real d = upstream[i] * decltype(f)::derivative(y[i]);
          dz[i] = d;
          total += d;
        }
        sums[piece * width + c] = total;
      });
    });
  }
};

/// Adds to the bias gradient the sums of dz over ranges of rows, in order.
template <class Real>
struct LayerBiasGradient {
  Span<const double> sums;
  Span<Real> out;
  MR_HD void operator()(int64_t c) const {
    double total = 0;
    for (int64_t i = c; i < sums.size; i += out.size) total += sums[i];
    out[c] = static_cast<Real>(total);
  }
};

}  // namespace mr
