// Linear least squares, and Student's distribution for what is said of its coefficients.
#include <cmath>

#include <Eigen/QR>
#include <boost/math/distributions/students_t.hpp>

#include "runtime/lua/bind.h"
#include "runtime/ops/check.h"
#include "runtime/statistics/stats.h"

namespace mr {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Coefficients, (X'X)^-1, the sum of squared residuals and the rank; where the columns depend on each other only the
/// rank says anything.
std::tuple<Tensor, Tensor, double, int64_t> least_squares(const Tensor& x, const Tensor& y) {
  if (x.dims() != 2 || x.size(0) != y.entries())
    throw ArgumentError("x", "shape " + x.shape().text() + " against " + std::to_string(y.entries()) +
                                 " values, expected a row for each");
  const auto n = x.size(0), p = x.size(1);
  if (p == 0) throw ArgumentError("x", "shape " + x.shape().text() + ", expected a column at least");
  const std::vector<double> rows = x.to(Dtype::float64).to_vector<double>();
  const std::vector<double> values = y.to(Dtype::float64).to_vector<double>();
  const Eigen::Map<const Matrix> design(rows.data(), n, p);
  const Eigen::Map<const Eigen::VectorXd> target(values.data(), n);
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(design);
  Tensor coefficients = Tensor::zeros({p}, Dtype::float64), inverse = Tensor::zeros({p, p}, Dtype::float64);
  if (qr.rank() < p) return {coefficients, inverse, stats::undefined, qr.rank()};
  const Eigen::VectorXd beta = qr.solve(target);
  const Eigen::MatrixXd r = qr.matrixR().topRows(p).triangularView<Eigen::Upper>();
  const Eigen::MatrixXd half =
      qr.colsPermutation() * r.triangularView<Eigen::Upper>().solve(Eigen::MatrixXd::Identity(p, p));
  Eigen::Map<Eigen::VectorXd>(coefficients.span<double>().data, p) = beta;
  Eigen::Map<Matrix>(inverse.span<double>().data, p, p) = half * half.transpose();
  return {coefficients, inverse, (target - design * beta).squaredNorm(), qr.rank()};
}

/// Two-sided p of t; NaN without degrees of freedom.
double student_p(double t, double df) {
  if (!(df > 0) || std::isnan(t)) return stats::undefined;
  if (std::isinf(t)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(df), std::fabs(t)));
}

double student_quantile(double p, double df) {
  if (!(p > 0 && p < 1)) throw ArgumentError("p", std::to_string(p) + ", expected between 0 and 1");
  return df > 0 ? boost::math::quantile(boost::math::students_t(df), p) : stats::undefined;
}

}  // namespace

extern const lua::OpTable least_squares_functions{
    lua::OpTable::functions,
    nullptr,
    {
        lua::op<&least_squares>("least_squares", "x, y",
                                "Coefficients, inverse of X'X, sum of squared residuals, rank of X."),
        lua::op<&student_p>("student_p", "t, df", "Two-sided p of Student's t."),
        lua::op<&student_quantile>("student_quantile", "p, df", "Of Student's distribution."),
    }};

}  // namespace mr
