// Kernel density estimates and kernel regression with Gaussian kernels, and bandwidths by cross validation. All pairs
// are visited, so one bandwidth costs n^2 exponentials. Sums are computed per value and then added in order, so the
// number of threads does not change results.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>

#include <boost/math/distributions/normal.hpp>

#include "runtime/lua/bind.h"
#include "runtime/statistics/minimum.h"
#include "runtime/statistics/observations.h"

namespace mr {
namespace {

using stats::undefined;

double gaussian(double u) { return std::exp(-0.5 * u * u) * (0.5 * std::numbers::sqrt2 * std::numbers::inv_sqrtpi); }

/// Returns the bandwidth h between `low` and `high` with the smallest error(h), searched on a logarithmic scale. Also
/// returns whether h is at an end of the range.
template <class F>
std::pair<double, bool> least(double low, double high, const F& error) {
  const stats::Minimum found =
      stats::least(std::log(low), std::log(high), 32, [&](double logarithm) { return error(std::exp(logarithm)); });
  return {std::exp(found.at), found.at_edge};
}

/// Returns the smaller of the standard deviation and the interquartile range / 1.34; the standard deviation if the
/// quartiles are equal.
double spread(const std::vector<double>& x) {
  std::vector<double> sorted = x;
  stats::sort(sorted);
  const double quartiles = (stats::sorted_quantile(sorted, 0.75) - stats::sorted_quantile(sorted, 0.25)) / 1.34;
  const double sd = stats::standard_deviation(x);
  return quartiles > 0 ? std::min(sd, quartiles) : sd;
}

/// Returns the error of a density by leave-one-out cross validation: the integral of the squared density, minus twice
/// the mean of each value's density without that value (Rudemo 1982, Bowman 1984). Its expectation is the integrated
/// squared error up to a constant.
double density_error(const std::vector<double>& x, double h) {
  const auto n = static_cast<int64_t>(x.size());
  std::vector<double> rows(x.size());
  cpu::parallel_each(n, 16, [&](int64_t i) {
    double squares = 0, left_out = 0;
    stats::each(i, [&](int64_t j) {
      const double wide = std::exp(-0.25 * (x[i] - x[j]) * (x[i] - x[j]) / (h * h));
      squares += wide;
      left_out += wide * wide;
    });
    const auto count = static_cast<double>(n);
    const double share = 0.5 * std::numbers::sqrt2;
    rows[i] = (share * (2 * squares + 1)) / (count * count) - 4 * left_out / (count * (count - 1));
  });
  return std::accumulate(rows.begin(), rows.end(), 0.0) * gaussian(0) / h;
}

/// Returns the bandwidth of a kernel density estimate by a rule: "silverman", "scott" or "lscv" (least-squares cross
/// validation). Also returns whether the search of "lscv" stopped at an end of its range.
std::pair<double, bool> density_bandwidth(const std::vector<double>& x, const std::string& rule) {
  const double scale = std::pow(static_cast<double>(x.size()), -0.2);
  if (rule == "silverman") return {0.9 * spread(x) * scale, false};
  if (rule == "scott") return {1.06 * spread(x) * scale, false};
  if (rule != "lscv") throw ArgumentError("rule", "'" + rule + "', expected silverman, scott or lscv");
  // The search has a lower end: if many values are equal, the error of cross validation has no minimum above 0
  // (Silverman 1986, 3.4.3).
  const double largest = 1.144 * stats::standard_deviation(x) * scale;
  return least(0.1 * largest, largest, [&](double h) { return density_error(x, h); });
}

std::tuple<double, bool> kde_bandwidth(const Tensor& x, const std::string& rule) {
  const stats::Sample sample("x", x);
  const double sd = stats::standard_deviation(sample.values);
  if (!(sd > stats::least_spread))
    throw ArgumentError("x", std::to_string(sample.count()) +
                                 " values that are all equal, expected values that differ "
                                 "or a number as bandwidth");
  return density_bandwidth(sample.values, rule);
}

Tensor kde(const Tensor& x, const Tensor& at, double h) {
  const stats::Sample sample("x", x);
  const std::vector<double> points = stats::Sample("at", at).values;
  Tensor density = Tensor::empty({static_cast<int64_t>(points.size())}, Dtype::float64);
  const auto out = density.span<double>();
  cpu::parallel_each(static_cast<int64_t>(points.size()), 8, [&](int64_t k) {
    double sum = 0;
    stats::each(sample.count(), [&](int64_t i) { sum += gaussian((points[k] - sample.values[i]) / h); });
    out[k] = sum / (static_cast<double>(sample.count()) * h);
  });
  return density;
}

/// Local linear regression (degree 0: local constant) at a point, weighted by a Gaussian kernel with standard deviation
/// h, or wider where pairs are sparse (`bandwidth`).
struct KernelFit {
  const std::vector<double>& x;
  const std::vector<double>& y;
  double h;
  int64_t degree;
  double nearest;

  /// Returns the bandwidth at a point, at least h. If `nearest` is above 0, the kernel also reaches that share of the
  /// pairs (Cleveland 1979) and two distinct x. Otherwise the line would follow single pairs where there are few.
  double bandwidth(double at, int64_t without) const {
    if (nearest <= 0) return h;
    std::vector<double> distances;
    double first = std::numeric_limits<double>::infinity(), second = first, first_x = stats::undefined;
    for (int64_t j = 0; j < static_cast<int64_t>(x.size()); ++j) {
      if (j == without) continue;
      const double distance = std::fabs(x[j] - at);
      distances.push_back(distance);
      if (distance < first) {
        if (x[j] != first_x) second = first;
        first = distance;
        first_x = x[j];
      } else if (distance < second && x[j] != first_x) {
        second = distance;
      }
    }
    if (distances.empty()) return h;
    const auto reached = static_cast<int64_t>(std::ceil(nearest * static_cast<double>(distances.size())));
    const auto kth = distances.begin() + std::max<int64_t>(reached, 1) - 1;
    std::nth_element(distances.begin(), kth, distances.end());
    return std::max({h, *kth, std::isfinite(second) ? second : 0.0});
  }

  /// Computes w (as long as x) so that the fitted value at `at` is the sum of w[j] y[j]. Pair `without` gets weight 0;
  /// -1 leaves out none.
  void weights(double at, int64_t without, std::vector<double>& w) const {
    const auto n = static_cast<int64_t>(x.size());
    const double wide = bandwidth(at, without);
    double closest = std::numeric_limits<double>::infinity();
    for (int64_t j = 0; j < n; ++j) closest = j == without ? closest : std::min(closest, std::fabs(x[j] - at));
    double s0 = 0, s1 = 0, s2 = 0;
    stats::each(n, [&](int64_t j) {
      const double u = x[j] - at;
      // Distances are relative to the nearest point's, so that weights do not underflow in a gap of x.
      w[j] = j == without ? 0 : std::exp(-0.5 * (u - closest) * (u + closest) / (wide * wide));
      s0 += w[j];
      s1 += w[j] * u;
      s2 += w[j] * u * u;
    });
    const double determinant = s0 * s2 - s1 * s1;
    // If all weight is at one x, the slope of a line is undefined, and a constant is fitted.
    const bool line = degree == 1 && determinant > 1e-10 * s0 * s2;
    for (int64_t j = 0; j < n; ++j) w[j] *= line ? (s2 - s1 * (x[j] - at)) / determinant : 1 / s0;
  }

  double value(const std::vector<double>& w) const {
    double sum = 0;
    for (size_t j = 0; j < y.size(); ++j) sum += w[j] * y[j];
    return sum;
  }

  /// Returns the residual of each y from the curve through the other pairs.
  std::vector<double> left_out_residuals() const {
    std::vector<double> residuals(x.size());
    cpu::parallel_each(static_cast<int64_t>(x.size()), 8, [&](int64_t i) {
      std::vector<double> w(x.size());
      weights(x[i], i, w);
      residuals[i] = y[i] - value(w);
    });
    return residuals;
  }
  double left_out_error() const {
    double sum = 0;
    for (const double r : left_out_residuals()) sum += r * r;
    return sum / static_cast<double>(x.size());
  }

  /// Returns the corrected AIC (Hurvich, Simonoff & Tsai 1998), up to a constant: logarithm of the mean squared
  /// residual plus a penalty for the degrees of freedom (the trace of the smoother). A bandwidth chosen by it fits
  /// noise less often than one chosen by cross validation.
  double corrected_information() const {
    const auto n = static_cast<int64_t>(x.size());
    std::vector<double> squares(x.size()), leverage(x.size());
    cpu::parallel_each(n, 8, [&](int64_t i) {
      std::vector<double> w(x.size());
      weights(x[i], -1, w);
      leverage[i] = w[i];
      squares[i] = (y[i] - value(w)) * (y[i] - value(w));
    });
    const double freedom = std::accumulate(leverage.begin(), leverage.end(), 0.0),
                 left = static_cast<double>(n) - freedom - 2;
    if (left <= 0) return std::numeric_limits<double>::infinity();
    return std::log(std::accumulate(squares.begin(), squares.end(), 0.0) / static_cast<double>(n)) +
           2 * (freedom + 1) / left;
  }
};

void check_share(const char* name, double value) {
  if (!(value >= 0 && value <= 1)) throw ArgumentError(name, number_text(value) + ", expected a share from 0 to 1");
}

/// Returns the bandwidth of a kernel regression, at least `floor`, by a rule: "cv" (cross validation) or "aicc"
/// (corrected AIC). Also returns whether it is at an end of the searched range.
std::tuple<double, bool> regression_bandwidth(const Tensor& x, const Tensor& y, int64_t degree, const std::string& rule,
                                              double nearest, double floor) {
  if (rule != "cv" && rule != "aicc") throw ArgumentError("rule", "'" + rule + "', expected cv or aicc");
  check_share("nearest", nearest);
  const stats::Pairs pairs("x", x, "y", y);
  const auto ends = std::minmax_element(pairs.a.begin(), pairs.a.end());
  if (pairs.a.empty() || !(*ends.second - *ends.first > stats::least_spread))
    throw ArgumentError("x", std::to_string(pairs.a.size()) +
                                 " pairs with equal x, expected x that differ or a number as "
                                 "bandwidth");
  const double range = *ends.second - *ends.first;
  if (floor >= 2 * range) return {floor, true};
  return least(std::max(range / 200, floor), 2 * range, [&](double h) {
    const KernelFit fit{pairs.a, pairs.b, h, degree, nearest};
    return rule == "cv" ? fit.left_out_error() : fit.corrected_information();
  });
}

/// Returns the curve at the points, its standard error there, and the mean squared leave-one-out error. The standard
/// error uses the leave-one-out residuals as deviations of y, so it allows the variance to change along x (MacKinnon &
/// White 1985, HC3).
std::tuple<Tensor, Tensor, double> kernel_regression(const Tensor& x, const Tensor& y, const Tensor& at, double h,
                                                     int64_t degree, double nearest) {
  check_share("nearest", nearest);
  const stats::Pairs pairs("x", x, "y", y);
  const std::vector<double> points = stats::Sample("at", at).values;
  const KernelFit fit{pairs.a, pairs.b, h, degree, nearest};
  const auto count = static_cast<int64_t>(points.size());
  Tensor curve = Tensor::empty({count}, Dtype::float64), error = Tensor::empty({count}, Dtype::float64);
  const auto values = curve.span<double>(), errors = error.span<double>();
  const std::vector<double> residuals = fit.left_out_residuals();
  cpu::parallel_each(count, 8, [&](int64_t k) {
    std::vector<double> w(pairs.a.size());
    fit.weights(points[k], -1, w);
    values[k] = fit.value(w);
    double variance = 0;
    for (size_t j = 0; j < w.size(); ++j) variance += w[j] * w[j] * residuals[j] * residuals[j];
    errors[k] = std::sqrt(variance);
  });
  return {curve, error, fit.left_out_error()};
}

/// Returns the distinct values in ascending order, with the share of values that are at most as large.
std::tuple<Tensor, Tensor, int64_t, int64_t> ecdf(const Tensor& x) {
  stats::Sample sample("x", x);
  std::vector<double>&sorted = sample.values, points, shares;
  stats::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (i + 1 < sorted.size() && sorted[i + 1] == sorted[i]) continue;
    points.push_back(sorted[i]);
    shares.push_back(static_cast<double>(i + 1) / static_cast<double>(sorted.size()));
  }
  return {Tensor::from(points), Tensor::from(shares), sample.count(), sample.skipped};
}

/// An interval in which the difference of two distribution functions, F_a - F_b, has one sign.
struct EcdfRegion {
  double from, to;
  int64_t sign;
  static constexpr auto fields =
      lua::fields("from", &EcdfRegion::from, "to", &EcdfRegion::to, "sign", &EcdfRegion::sign);
};

/// Finds the differences of two empirical distribution functions.
struct EcdfDifference {
  std::vector<EcdfRegion> regions;
  double above = 0, below = 0;      ///< areas between the functions where F_a > F_b and where F_a < F_b
  double ks = 0, at = undefined;    ///< largest |F_a - F_b| (Kolmogorov-Smirnov), and the first point with it
  std::vector<int64_t> n, skipped;  ///< numbers of values used and left out, for a and b
  static constexpr auto fields = lua::fields(
      "regions", &EcdfDifference::regions, "above", &EcdfDifference::above, "below", &EcdfDifference::below, "ks",
      &EcdfDifference::ks, "at", &EcdfDifference::at, "n", &EcdfDifference::n, "skipped", &EcdfDifference::skipped);

  /// Adds the interval from `start` to `end`, in which F_a - F_b has the constant value `difference`.
  void step(double start, double end, double difference) {
    if (std::fabs(difference) > ks) {
      ks = std::fabs(difference);
      at = start;
    }
    if (difference == 0) return;
    (difference > 0 ? above : below) += std::fabs(difference) * (end - start);
    const int64_t sign = difference > 0 ? 1 : -1;
    if (!regions.empty() && regions.back().to == start && regions.back().sign == sign) {
      regions.back().to = end;
    } else {
      regions.push_back({start, end, sign});
    }
  }
};

EcdfDifference ecdf_difference(std::vector<double> a, std::vector<double> b) {
  stats::sort(a);
  stats::sort(b);
  EcdfDifference found;
  const auto n = static_cast<int64_t>(a.size()), m = static_cast<int64_t>(b.size());
  int64_t i = 0, j = 0;
  while (i < n || j < m) {
    const double here = j == m || (i < n && a[i] <= b[j]) ? a[i] : b[j];
    while (i < n && a[i] == here) ++i;
    while (j < m && b[j] == here) ++j;
    if (i == n && j == m) break;
    const double next = j == m || (i < n && a[i] <= b[j]) ? a[i] : b[j];
    // Compares integers, so that two equal distribution functions differ by exactly 0.
    found.step(here, next, static_cast<double>(i * m - j * n) / (static_cast<double>(n) * static_cast<double>(m)));
  }
  return found;
}

EcdfDifference ecdf_compare(const Tensor& a, const Tensor& b) {
  stats::Sample x("a", a), y("b", b);
  if (x.count() == 0) throw ArgumentError("a", "no values, expected at least one");
  if (y.count() == 0) throw ArgumentError("b", "no values, expected at least one");
  EcdfDifference d = ecdf_difference(x.values, y.values);
  d.n = {x.count(), y.count()};
  d.skipped = {x.skipped, y.skipped};
  return d;
}

double normal_quantile(double p) {
  if (!(p > 0 && p < 1)) throw ArgumentError("p", number_text(p) + ", expected a number above 0 and below 1");
  return boost::math::quantile(boost::math::normal(), p);
}
double normal_cdf(double x) {
  if (std::isnan(x)) throw ArgumentError("x", "NaN, expected a number");
  return boost::math::cdf(boost::math::normal(), x);
}

}  // namespace

extern const lua::OpTable kernel_fit_functions{
    lua::OpTable::functions,
    nullptr,
    {
        lua::op<&kde_bandwidth>(
            "kde_bandwidth", "x, rule",
            "Bandwidth by silverman, scott or lscv, and true if the search ended at an end of its range."),
        lua::op<&kde>("kde", "x, at, bandwidth", "Gaussian kernel density of x at the points."),
        lua::op<&regression_bandwidth>("regression_bandwidth", "x, y, degree, rule, nearest, floor",
                                       "Bandwidth by cross validation (cv) or corrected AIC (aicc), and true if the "
                                       "search ended at an end of its range."),
        lua::op<&kernel_regression>(
            "kernel_regression", "x, y, at, bandwidth, degree, nearest",
            "Kernel regression at the points, its standard error, and the cross validation error."),
        lua::op<&normal_cdf>("normal_cdf", "x", "The standard normal distribution function."),
        lua::op<&normal_quantile>("normal_quantile", "p", "Quantile of the standard normal distribution."),
        lua::op<&ecdf>("ecdf", "x",
                       "Distinct values in ascending order, shares of values at most as large, number of values, "
                       "number left out."),
        lua::op<&ecdf_compare>("ecdf_compare", "a, b",
                               "Regions with the sign of F_a - F_b, the areas between the functions, their largest "
                               "distance and its position."),
    }};

}  // namespace mr
