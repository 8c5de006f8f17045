// Tests of paired values.
#include <cmath>

#include <boost/math/distributions/students_t.hpp>

#include "runtime/lua/bind.h"
#include "runtime/ops/check.h"

namespace mr {
namespace {

/// t, degrees of freedom, two-sided p, mean difference, its standard error, pairs used, pairs left out for NaN.
std::tuple<double, double, double, double, double, int64_t, int64_t> paired_t(const Tensor& a, const Tensor& b) {
  if (a.entries() != b.entries()) {
    throw ArgumentError(
        "b", std::to_string(b.entries()) + " values against " + std::to_string(a.entries()) + ", expected as many");
  }
  const auto x = a.to(Dtype::float64).to_vector<double>(), y = b.to(Dtype::float64).to_vector<double>();
  std::vector<double> difference;
  for (size_t i = 0; i < x.size(); ++i) {
    if (!std::isnan(x[i]) && !std::isnan(y[i])) difference.push_back(x[i] - y[i]);
  }
  const auto n = static_cast<double>(difference.size());
  const auto skipped = static_cast<int64_t>(x.size() - difference.size());
  const double nan = std::nan("");
  double mean = 0, square = 0;
  for (const double d : difference) mean += d / n;
  for (const double d : difference) square += (d - mean) * (d - mean);
  if (n < 2) return {nan, n - 1, nan, n == 1 ? mean : nan, nan, static_cast<int64_t>(n), skipped};
  const double error = std::sqrt(square / (n - 1) / n);
  if (error == 0)
    return {mean == 0 ? 0 : std::copysign(INFINITY, mean),
            n - 1,
            mean == 0 ? 1 : 0,
            mean,
            0,
            static_cast<int64_t>(n),
            skipped};
  const double t = mean / error;
  const double p = 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(n - 1), std::fabs(t)));
  return {t, n - 1, p, mean, error, static_cast<int64_t>(n), skipped};
}

/// Mean and sample standard deviation of the values that are not NaN, how many they are and how many are NaN.
std::tuple<double, double, int64_t, int64_t> summary(const Tensor& x) {
  const auto values = x.to(Dtype::float64).to_vector<double>();
  double total = 0, square = 0;
  int64_t n = 0;
  for (const double v : values) {
    if (std::isnan(v)) continue;
    total += v;
    ++n;
  }
  const double mean = total / static_cast<double>(n);
  for (const double v : values) {
    if (!std::isnan(v)) square += (v - mean) * (v - mean);
  }
  return {mean, std::sqrt(square / static_cast<double>(n - 1)), n, static_cast<int64_t>(values.size()) - n};
}

}  // namespace

extern const lua::OpTable stats_functions{
    lua::OpTable::functions,
    nullptr,
    {
        lua::op<&paired_t>("paired_t", "a, b",
                           "Student's t-test of pairs: t, df, p, mean difference, its error, pairs, left out."),
        lua::op<&summary>("summary", "x", "Mean, standard deviation, count, left out; NaN is left out."),
    }};

}  // namespace mr
