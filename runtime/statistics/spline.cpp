// Cubic smoothing splines (Reinsch 1967) in time linear in the number of distinct x. The penalty is chosen by
// generalized cross validation (Craven & Wahba 1979), and intervals come from the posterior covariance (Wahba 1983).
// Notation of Green & Silverman (1994), chapter 2: h are distances between knots, Q takes second differences, R is the
// Gram matrix of the hat functions, gamma are the second derivatives at inner knots.
#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "runtime/lua/bind.h"
#include "runtime/statistics/minimum.h"
#include "runtime/statistics/observations.h"

namespace mr {
namespace {

using Vector = std::vector<double>;

/// The knots of a spline: pairs with equal x are merged, with the mean of y and their number.
struct Knots {
  Vector x, y, weight, h;
  double within = 0;  ///< sum of squares within merged pairs, about their means
  double pairs = 0;

  explicit Knots(const stats::Pairs& given) : pairs(static_cast<double>(given.a.size())) {
    std::vector<size_t> order(given.a.size());
    std::iota(order.begin(), order.end(), size_t{0});
    const auto less = [&](size_t i, size_t j) { return given.a[i] < given.a[j]; };
    std::stable_sort(order.begin(), order.end(), stats::patient(less));
    for (const size_t i : order) add(given.a[i], given.b[i]);
    if (x.size() < 3) {
      throw ArgumentError("x", std::to_string(x.size()) + " distinct values, expected at least three");
    }
    for (size_t i = 0; i + 1 < x.size(); ++i) h.push_back(x[i + 1] - x[i]);
  }

  size_t inner() const { return x.size() - 2; }
  std::array<double, 3> column(size_t j) const { return {1 / h[j], -1 / h[j] - 1 / h[j + 1], 1 / h[j + 1]}; }

  Vector second_differences(const Vector& v) const {
    Vector found(inner());
    for (size_t j = 0; j < inner(); ++j) {
      const auto [a, b, c] = column(j);
      found[j] = a * v[j] + b * v[j + 1] + c * v[j + 2];
    }
    return found;
  }
  Vector spread(const Vector& v) const {
    Vector found(x.size(), 0.0);
    for (size_t j = 0; j < inner(); ++j) {
      const auto [a, b, c] = column(j);
      found[j] += a * v[j];
      found[j + 1] += b * v[j];
      found[j + 2] += c * v[j];
    }
    return found;
  }

 private:
  void add(double at, double value) {
    if (x.empty() || x.back() != at) {
      x.push_back(at);
      y.push_back(0);
      weight.push_back(0);
    }
    const double delta = value - y.back();
    weight.back() += 1;
    y.back() += delta / weight.back();
    within += delta * (value - y.back());
  }
};

/// Computes the LDL' factorization of R + lambda Q' W^-1 Q, which has five diagonals: pivots d, and the two diagonals
/// below those of L.
struct Factors {
  Vector d, l1, l2;

  Factors(const Knots& k, double lambda) : d(k.inner()), l1(k.inner(), 0.0), l2(k.inner(), 0.0) {
    const Vector& w = k.weight;
    const size_t m = k.inner();
    for (size_t j = 0; j < m; ++j) {
      const auto [a, b, c] = k.column(j);
      d[j] = (k.h[j] + k.h[j + 1]) / 3 + lambda * (a * a / w[j] + b * b / w[j + 1] + c * c / w[j + 2]);
      if (j > 0) d[j] -= l1[j - 1] * l1[j - 1] * d[j - 1];
      if (j > 1) d[j] -= l2[j - 2] * l2[j - 2] * d[j - 2];
      if (j + 1 < m) {
        const auto [e, f, unused] = k.column(j + 1);
        double beside = k.h[j + 1] / 6 + lambda * (b * e / w[j + 1] + c * f / w[j + 2]);
        if (j > 0) beside -= l2[j - 1] * d[j - 1] * l1[j - 1];
        l1[j] = beside / d[j];
      }
      if (j + 2 < m) l2[j] = lambda * c * k.column(j + 2)[0] / w[j + 2] / d[j];
    }
  }

  Vector solve(Vector b) const {
    const size_t m = d.size();
    for (size_t j = 0; j < m; ++j) {
      if (j > 0) b[j] -= l1[j - 1] * b[j - 1];
      if (j > 1) b[j] -= l2[j - 2] * b[j - 2];
    }
    for (size_t j = m; j-- > 0;) {
      b[j] /= d[j];
      if (j + 1 < m) b[j] -= l1[j] * b[j + 1];
      if (j + 2 < m) b[j] -= l2[j] * b[j + 2];
    }
    return b;
  }
};

/// Computes the degrees of freedom, the trace of the smoother: number of knots - lambda tr(W^-1 Q S^-1 Q'). Only the
/// five middle diagonals of the inverse are needed (Hutchinson & de Hoog 1985).
double freedom(const Knots& k, double lambda, const Factors& f) {
  using Row = std::array<double, 3>;  // a row of the inverse matrix: its diagonal entry and the next two entries
  const Vector& w = k.weight;
  const size_t m = k.inner();
  Row one{}, two{};  // rows j + 1 and j + 2 of the inverse, which the loop has computed before row j
  double left = 0;
  for (size_t j = m; j-- > 0;) {
    const double s2 = -f.l1[j] * one[1] - f.l2[j] * two[0], s1 = -f.l1[j] * one[0] - f.l2[j] * one[1],
                 s0 = 1 / f.d[j] - f.l1[j] * s1 - f.l2[j] * s2;
    const auto [a, b, c] = k.column(j);
    left += s0 * (a * a / w[j] + b * b / w[j + 1] + c * c / w[j + 2]);
    if (j + 1 < m) {
      const auto [p, q, unused] = k.column(j + 1);
      left += 2 * s1 * (b * p / w[j + 1] + c * q / w[j + 2]);
    }
    if (j + 2 < m) left += 2 * s2 * c * k.column(j + 2)[0] / w[j + 2];
    two = one;
    one = {s0, s1, s2};
  }
  return static_cast<double>(k.x.size()) - lambda * left;
}

struct Spline {
  const Knots& knots;
  double lambda;
  Factors factors;
  Vector gamma, g;  ///< gamma: second derivatives at the inner knots; g: values at all knots
  double df, squares, gcv;

  Spline(const Knots& k, double penalty)
      : knots(k),
        lambda(penalty),
        factors(k, penalty),
        gamma(factors.solve(k.second_differences(k.y))),
        g(k.spread(gamma)),
        df(freedom(k, penalty, factors)),
        squares(k.within) {
    cpu::check_interrupt();
    for (size_t i = 0; i < g.size(); ++i) {
      g[i] = k.y[i] - lambda * g[i] / k.weight[i];
      squares += k.weight[i] * (k.y[i] - g[i]) * (k.y[i] - g[i]);
    }
    gcv = k.pairs * squares / ((k.pairs - df) * (k.pairs - df));
  }

  /// Weights of a linear combination that is the spline's value at a point between the knots i and i + 1: s and t
  /// multiply the values at these two knots, u and v the second derivatives there.
  struct Weights {
    size_t i;
    double s, t, u, v;
  };
  Weights weights(double at) const {
    const Vector& x = knots.x;
    const auto above = std::upper_bound(x.begin() + 1, x.end() - 1, at);
    const auto i = static_cast<size_t>(above - x.begin()) - 1;
    const double h = knots.h[i], s = (x[i + 1] - at) / h, t = (at - x[i]) / h;
    return {i, s, t, (s * s * s - s) * h * h / 6, (t * t * t - t) * h * h / 6};
  }

  double value(const Weights& at) const {
    const size_t m = gamma.size();
    return at.s * g[at.i] + at.t * g[at.i + 1] + (at.i > 0 ? at.u * gamma[at.i - 1] : 0) +
           (at.i < m ? at.v * gamma[at.i] : 0);
  }

  /// Returns the variance at a point in units of the residual variance: c' (W + lambda K)^-1 c. c includes the part
  /// that enters through the second derivatives, R^-1 Q' g. `plain` is the factorization of R.
  double variance(const Weights& at, const Factors& plain) const {
    Vector through(gamma.size(), 0.0);
    if (at.i > 0) through[at.i - 1] = at.u;
    if (at.i < through.size()) through[at.i] = at.v;
    Vector c = knots.spread(plain.solve(std::move(through)));
    c[at.i] += at.s;
    c[at.i + 1] += at.t;
    Vector scaled(c.size());
    for (size_t p = 0; p < c.size(); ++p) scaled[p] = c[p] / knots.weight[p];
    const Vector back = knots.spread(factors.solve(knots.second_differences(scaled)));
    double sum = 0;
    for (size_t p = 0; p < c.size(); ++p) sum += scaled[p] * (c[p] - lambda * back[p]);
    return sum;
  }
};

/// Returns the penalty with the best score over fourteen powers of ten, and whether it is at an end of that range.
std::tuple<double, bool> spline_penalty(const Tensor& x, const Tensor& y) {
  const Knots knots(stats::Pairs("x", x, "y", y));
  const double scale = std::pow(knots.x.back() - knots.x.front(), 3) * knots.pairs;
  const auto score = [&](double power) { return Spline(knots, scale * std::pow(10, power)).gcv; };
  const stats::Minimum found = stats::least(-12, 2, 28, score);
  return {scale * std::pow(10, found.at), found.at_edge};
}

/// Returns the curve at the points, its standard error there, the degrees of freedom, and the penalty's score. NaN if
/// values of x are too close to each other.
std::tuple<Tensor, Tensor, double, double> smoothing_spline(const Tensor& x, const Tensor& y, const Tensor& at,
                                                            double lambda) {
  const Knots knots(stats::Pairs("x", x, "y", y));
  const Spline spline(knots, lambda);
  const Factors plain(knots, 0);
  const Vector points = stats::Sample("at", at).values;
  const auto count = static_cast<int64_t>(points.size());
  Tensor curve = Tensor::empty({count}, Dtype::float64), error = Tensor::empty({count}, Dtype::float64);
  const auto values = curve.span<double>(), errors = error.span<double>();
  const double deviation = std::sqrt(spline.squares / (knots.pairs - spline.df));
  cpu::parallel_each(count, 8, [&](int64_t p) {
    cpu::check_interrupt();
    const auto weights = spline.weights(points[p]);
    values[p] = spline.value(weights);
    errors[p] = deviation * std::sqrt(std::max(0.0, spline.variance(weights, plain)));
  });
  return {curve, error, spline.df, spline.gcv};
}

}  // namespace

extern const lua::OpTable spline_functions{
    lua::OpTable::functions,
    nullptr,
    {
        lua::op<&spline_penalty>(
            "spline_penalty", "x, y",
            "Penalty by generalized cross validation, and true if the search ended at an end of its range."),
        lua::op<&smoothing_spline>("smoothing_spline", "x, y, at, lambda",
                                   "Spline at the points, its standard error, degrees of freedom, score."),
    }};

}  // namespace mr
