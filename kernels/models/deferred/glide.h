// The closed form of deferred optimizer updates. A row that was last updated in step t0 has parameter p, mean gradient
// m and mean square v. With Adam, the j-th step without a gradient subtracts m weight_j / (sqrt(v) + epsilon place_j)
// from p. weight_j and place_j depend on t0 and j only, so sums over j are shared by all rows with the same t0
// (README.md). Weight decay of AdamW also multiplies p by `kept`. Steps of SGD and RMSProp without a gradient are
// linear in p and m.
#pragma once

#include <cmath>
#include <cstdint>

#include "kernels/core/hd.h"

namespace mr {

// kind of optimizer whose updates are deferred; `root` stands for RMSProp and Adagrad, which divide by a root of
// squares
enum class StepKind : uint8_t { sgd, root, adam };

/// Sums over the optimizer steps that were deferred since step t0, each with a `weight` and a `place` (the factor of
/// epsilon in the step's denominator). With d = place / centre - 1, they are: `moment[n]`, the sum of weight d^n, and
/// `inverse`, the sum of weight / (1 + d).
struct GlideSums {
  static constexpr int moments = 6;
  double centre = 1, inverse = 0;
  double moment[moments] = {};
  /// Multiplies all weights in the sums by a factor.
  MR_HD void scale(double factor) {
    inverse *= factor;
    for (double& each : moment) each *= factor;
  }
  MR_HD void add(double weight, double place) {
    const double d = place / centre - 1;
    inverse += weight / (1 + d);
    for (double& each : moment) {
      each += weight;
      weight *= d;
    }
  }
};

/// The glide: the amount that deferred updates subtract from rows that were last updated in the same step t0. With SGD
/// and RMSProp it is m top[0]. With Adam, reach = epsilon centre and u = reach / (sqrt(v) + reach), it is m / (sqrt(v)
/// + reach) times sum_j weight_j / (1 + d_j u), which is computed as a rational function of u. Where that is not exact
/// enough, the terms m weight_j / (sqrt(v) + epsilon place_j) of the `terms` steps are summed one by one.
template <class Real>
struct Glide {
  // rational function (top[0] + top[1] u + ...) / (1 + bottom[0] u + ...) of u = reach / (sqrt(v) + reach)
  Real reach, top[3], bottom[3];
  // factors by which a row's mean gradient and mean square shrink during the deferred steps
  Real mean_left, square_left;
  int64_t first = 0, terms = 0;
  // true if the polynomials in u have degrees of at most 2: then multiplying both by (sqrt(v) + reach)^2 saves a
  // division
  bool low = false;
  // kept: factor of the parameter from weight decay. pull: with SGD's momentum, the factor with which weight decay
  // adds the parameter to the mean gradient
  Real kept = 1, pull = 0;
};

/// Fits the Pade approximant of sum_j weight_j / (1 + d_j u) with degrees n - 1 and n, which is Gauss quadrature with n
/// nodes. Its error grows with u, so it is checked at u = 1, where the sum is known. Picks the least n that meets
/// `tolerance` there, or returns false.
struct GlideFit {
  double top[3] = {}, bottom[3] = {};

  MR_HD bool fit(const GlideSums& sums, double tolerance) {
    double g[GlideSums::moments];
    for (int n = 0; n < GlideSums::moments; ++n) g[n] = n % 2 == 0 ? sums.moment[n] : -sums.moment[n];
    return (one(g) && exact(sums, tolerance)) || (two(g) && exact(sums, tolerance)) ||
           (three(g) && exact(sums, tolerance));
  }

 private:
  MR_HD bool exact(const GlideSums& sums, double tolerance) const {
    for (int k = 1; k < 4; ++k) {
      const double u = k * 0.25;
      if (!(1 + u * (bottom[0] + u * (bottom[1] + u * bottom[2])) > 0)) return false;
    }
    const double below = 1 + bottom[0] + bottom[1] + bottom[2];
    return below > 0 && std::fabs((top[0] + top[1] + top[2]) / below - sums.inverse) <= tolerance * sums.inverse;
  }
  MR_HD void set_top(const double* g, int n) {
    for (int k = 0; k < 3; ++k) {
      top[k] = 0;
      if (k >= n) continue;
      top[k] = g[k];
      for (int i = 0; i < k; ++i) top[k] += bottom[i] * g[k - 1 - i];
    }
  }
  MR_HD bool one(const double* g) {
    bottom[0] = -g[1] / g[0];
    bottom[1] = bottom[2] = 0;
    set_top(g, 1);
    return true;
  }
  MR_HD bool two(const double* g) {
    const double determinant = g[1] * g[1] - g[0] * g[2];
    if (determinant == 0) return false;
    bottom[0] = (g[0] * g[3] - g[1] * g[2]) / determinant;
    bottom[1] = (g[2] * g[2] - g[1] * g[3]) / determinant;
    bottom[2] = 0;
    set_top(g, 2);
    return true;
  }
  /// Solves the linear equations g[k] + bottom[0] g[k-1] + bottom[1] g[k-2] + bottom[2] g[k-3] = 0 for k = 3, 4, 5, by
  /// Cramer's rule, for the coefficients `bottom` of the Pade approximant's denominator. g has the coefficients of its
  /// power series.
  MR_HD bool three(const double* g) {
    const double minor0 = g[2] * g[2] - g[1] * g[3], minor1 = g[2] * g[3] - g[1] * g[4],
                 minor2 = g[3] * g[3] - g[2] * g[4];
    const double determinant = g[2] * minor0 - g[1] * minor1 + g[0] * minor2;
    if (determinant == 0) return false;
    const auto replaced = [&](int column) {
      double a[3][3] = {{g[2], g[1], g[0]}, {g[3], g[2], g[1]}, {g[4], g[3], g[2]}};
      for (int k = 0; k < 3; ++k) a[k][column] = -g[3 + k];
      return a[0][0] * (a[1][1] * a[2][2] - a[1][2] * a[2][1]) - a[0][1] * (a[1][0] * a[2][2] - a[1][2] * a[2][0]) +
             a[0][2] * (a[1][0] * a[2][1] - a[1][1] * a[2][0]);
    };
    for (int k = 0; k < 3; ++k) bottom[k] = replaced(k) / determinant;
    set_top(g, 3);
    return true;
  }
};

}  // namespace mr
