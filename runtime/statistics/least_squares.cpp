// Linear least squares, and Student's distribution for tests and intervals of the coefficients.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <Eigen/Householder>
#include <boost/math/distributions/students_t.hpp>

#include "kernels/core/threads.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/statistics/observations.h"

namespace mr {
namespace {

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// Computes a Householder QR with column pivoting, as in Eigen's ColPivHouseholderQR, but one column at a time so that
/// Ctrl-C works.
struct PivotedQr {
  Eigen::MatrixXd qr;
  Eigen::VectorXd tau;
  Eigen::VectorXi columns;  // number of the design matrix's column at each position after pivoting
  int64_t rank = 0;

  explicit PivotedQr(Eigen::MatrixXd design)
      : qr(std::move(design)), tau(qr.cols()), columns(Eigen::VectorXi::LinSpaced(qr.cols(), 0, qr.cols() - 1)) {
    const Eigen::Index n = qr.rows(), steps = std::min(n, qr.cols());
    double largest = 0;
    for (Eigen::Index k = 0; k < steps; ++k) {
      cpu::check_interrupt();
      Eigen::Index pivot = 0;
      qr.bottomRightCorner(n - k, qr.cols() - k).colwise().squaredNorm().maxCoeff(&pivot);
      qr.col(k).swap(qr.col(k + pivot));
      std::swap(columns[k], columns[k + pivot]);
      reflect(k);
      largest = std::max(largest, std::fabs(qr(k, k)));
    }
    const double least = largest * std::numeric_limits<double>::epsilon() * static_cast<double>(steps);
    for (Eigen::Index k = 0; k < steps; ++k) rank += std::fabs(qr(k, k)) > least ? 1 : 0;
  }

  /// Applies the reflection that eliminates column k below the diagonal to the columns right of k.
  void reflect(Eigen::Index k) {
    const Eigen::Index below = qr.rows() - k - 1, right = qr.cols() - k - 1;
    double beta = 0;
    qr.col(k).tail(below + 1).makeHouseholderInPlace(tau[k], beta);
    qr(k, k) = beta;
    Eigen::VectorXd scratch(right);
    qr.bottomRightCorner(below + 1, right).applyHouseholderOnTheLeft(qr.col(k).tail(below), tau[k], scratch.data());
  }

  /// Returns R^-1 times a matrix, with rows in the order of the design's columns; several columns at a time.
  Eigen::MatrixXd solved(const Eigen::MatrixXd& right) const {
    const auto r = qr.topRows(qr.cols()).triangularView<Eigen::Upper>();
    Eigen::MatrixXd out(right.rows(), right.cols());
    constexpr Eigen::Index piece = 32;
    for (Eigen::Index first = 0; first < right.cols(); first += piece) {
      cpu::check_interrupt();
      const Eigen::Index count = std::min(piece, right.cols() - first);
      const Eigen::MatrixXd part = r.solve(right.middleCols(first, count));
      for (Eigen::Index k = 0; k < part.rows(); ++k) out.row(columns[k]).segment(first, count) = part.row(k);
    }
    return out;
  }

  /// Returns the leading entries of Q' y, where Q is the orthogonal factor.
  Eigen::MatrixXd rotated(Eigen::VectorXd y) const {
    double scratch = 0;
    for (Eigen::Index k = 0; k < std::min(qr.rows(), qr.cols()); ++k) {
      y.tail(qr.rows() - k).applyHouseholderOnTheLeft(qr.col(k).tail(qr.rows() - k - 1), tau[k], &scratch);
    }
    return y.head(qr.cols());
  }
};

/// Computes the product a a', several columns at a time.
void product_with_own_transpose(const Eigen::MatrixXd& a, double* out) {
  const Eigen::Index p = a.rows();
  Eigen::Map<Matrix> product(out, p, p);
  constexpr Eigen::Index piece = 32;
  for (Eigen::Index first = 0; first < p; first += piece) {
    cpu::check_interrupt();
    const Eigen::Index count = std::min(piece, p - first);
    product.middleRows(first, count) = a.middleRows(first, count) * a.transpose();
  }
}

/// Returns coefficients, (X'X)^-1, the sum of squared residuals and the rank. If the columns are linearly dependent,
/// only the rank is defined.
std::tuple<Tensor, Tensor, double, int64_t> least_squares(const Tensor& x, const Tensor& y) {
  if (x.dims() != 2 || x.size(0) != y.entries())
    throw ArgumentError("x", "has shape " + x.shape().text() + ", expected a matrix with one row for each of " +
                                 std::to_string(y.entries()) + " values");
  const auto n = x.size(0), p = x.size(1);
  if (p == 0)
    throw ArgumentError("x", "has shape " + x.shape().text() + ", expected a matrix with at least one column");
  const std::vector<double> rows = x.to(Dtype::float64).to_vector<double>();
  const std::vector<double> values = y.to(Dtype::float64).to_vector<double>();
  const Eigen::Map<const Matrix> design(rows.data(), n, p);
  const Eigen::Map<const Eigen::VectorXd> target(values.data(), n);
  const PivotedQr qr(design);
  Tensor coefficients = Tensor::zeros({p}, Dtype::float64), inverse = Tensor::zeros({p, p}, Dtype::float64);
  if (qr.rank < p) return {coefficients, inverse, stats::undefined, qr.rank};
  const Eigen::VectorXd beta = qr.solved(qr.rotated(target));
  Eigen::Map<Eigen::VectorXd>(coefficients.span<double>().data, p) = beta;
  product_with_own_transpose(qr.solved(Eigen::MatrixXd::Identity(p, p)), inverse.span<double>().data);
  return {coefficients, inverse, (target - design * beta).squaredNorm(), qr.rank};
}

/// Returns the two-sided p-value of Student's t with `df` degrees of freedom; NaN if `df` is 0.
double student_p(double t, double df) {
  if (!(df > 0) || std::isnan(t)) return stats::undefined;
  if (std::isinf(t)) return 0;
  return 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(df), std::fabs(t)));
}

double student_quantile(double p, double df) {
  if (!(p > 0 && p < 1)) throw ArgumentError("p", number_text(p) + ", expected a number above 0 and below 1");
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
        lua::op<&student_quantile>("student_quantile", "p, df", "Quantile of Student's distribution."),
    }};

}  // namespace mr
