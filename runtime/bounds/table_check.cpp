// Checks that a table read from a file can be the smoothed distribution function of a shape: its moments must match the
// closed forms. A wrong table is then computed again, so it costs time but gives no wrong result.
#include "runtime/bounds/table_check.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kernels/core/functions.h"
#include "kernels/core/logarithms.h"

namespace mr {
namespace {

/// Nodes and weights of Gauss-Legendre quadrature on [0, 1].
constexpr double nodes[4] = {0.06943184420297371, 0.33000947820757187, 0.66999052179242813, 0.93056815579702629};
constexpr double node_weights[4] = {0.17392742256872693, 0.32607257743127307, 0.32607257743127307, 0.17392742256872693};

constexpr double rounding = 1e-9;   // allowed relative error of slopes
constexpr double slack = 0.1;       // allowed error of logits: a Fourier series is inexact where F~ is 1e-10
constexpr double end_logit = 7.5;   // a table must extend to where the logit of F~ or of 1 - F~ is below minus this
constexpr double negligible = 20;   // tails beyond this logit do not change the moments
constexpr double logit_step = 0.5;  // integration divides intervals in which the logit rises by more than this

/// Limits, about three times the errors of tables of RR, AP, nDCG, RBP and precision for 3 to 20,000 rows.
constexpr double mean_error = 1e-5, tail_error = 1e-8, coarse_error = 0.3;
constexpr double fine = 0.6;  // largest fine step, in units of 1 / gain

/// Integrals of F and of s F, with s measured from a centre; later, mean and variance.
struct Pair {
  double zeroth = 0, first = 0;
};

/// Integrals of F~ below a table, or of 1 - F~ above it, where the logit is linear. t is the distance from the table.
/// `logit` is so small that three terms of the dilogarithm series suffice.
Pair tail(double logit, double slope) {
  if (logit < -negligible) return {};
  const double e = portable::exp(logit);
  return {portable::log1p(e) / slope, (e - e * e / 4 + e * e * e / 9) / (slope * slope)};
}

/// True if slopes are at most the gain, the curve between knots rises, and logits are between those of the smallest and
/// the largest value alone.
bool is_possible(const LogitTable& table, double gain, double low, double high) {
  const std::vector<double>& knots = table.knots();
  const size_t count = knots.size() / 2;
  for (size_t k = 0; k < count; ++k) {
    const double s = table.first() + static_cast<double>(k) * table.step(), logit = knots[2 * k];
    const double room = slack + rounding * std::fabs(logit);
    if (!(knots[2 * k + 1] <= gain * (1 + rounding))) return false;
    if (!(logit >= gain * (s - high) - room && logit <= gain * (s - low) + room)) return false;
    if (k + 1 == count) break;
    const double most = 3 * (knots[2 * k + 2] - logit) / table.step() * (1 + rounding) + rounding * gain;
    if (!(knots[2 * k + 1] <= most && knots[2 * k + 3] <= most)) return false;
  }
  return knots[0] <= -end_logit && knots[2 * count - 2] >= end_logit;
}

void add_interval(Pair& sum, const LogitTable& table, size_t k, double centre) {
  const std::vector<double>& knots = table.knots();
  const double rise = knots[2 * k + 2] - knots[2 * k];
  const int pieces = static_cast<int>(std::clamp(std::ceil(rise / logit_step), 1.0, 64.0));
  const double width = table.step() / pieces, from = table.first() + static_cast<double>(k) * table.step();
  const LogitView view = table.view(Device::cpu);
  for (int piece = 0; piece < pieces; ++piece) {
    for (int j = 0; j < 4; ++j) {
      const double s = from + (piece + nodes[j]) * width;
      const double value = node_weights[j] * width * logistic(logit_at(view, s).logit);
      sum.zeroth += value;
      sum.first += value * (s - centre);
    }
  }
}

/// Mean, measured from `centre`, and variance, by integration by parts: E(S - c) = (b - c) - int F, and E(S - c)^2 = (b
/// - c)^2 - 2 int (s - c) F, including the tails below the table and above its end b.
Pair moments_about(const LogitTable& table, double centre) {
  const std::vector<double>& knots = table.knots();
  const size_t count = knots.size() / 2;
  Pair inside;
  for (size_t k = 0; k + 1 < count; ++k) add_interval(inside, table, k, centre);
  const double first = table.first() - centre, end = first + static_cast<double>(count - 1) * table.step();
  const Pair below = tail(knots[0], knots[1]), above = tail(-knots[2 * count - 2], knots[2 * count - 1]);
  return {
      end - inside.zeroth - below.zeroth + above.zeroth,
      end * end - 2 * inside.first - 2 * (first * below.zeroth - below.first) + 2 * (end * above.zeroth + above.first)};
}

}  // namespace

TableError table_error(const LogitTable& table, double gain, const BoundStats& range, const Moments& moments) {
  const Pair found = moments_about(table, moments.mean);
  const double kernel = std::numbers::pi * std::numbers::pi / (3 * gain * gain);
  const double variance = moments.sd * moments.sd + kernel;
  return {is_possible(table, gain, range.min, range.max), found.zeroth / std::sqrt(variance),
          found.first / variance - 1};
}

bool agrees(const LogitTable& table, double gain, const BoundStats& range, const Moments& moments) {
  if (table.knots().size() < 4) return false;
  const TableError error = table_error(table, gain, range, moments);
  const double deviations = (range.max - range.min) / moments.sd;
  // Steps are coarse only at the largest number of knots. It is then unknown where F~ rises between two knots.
  const bool is_coarse = gain * table.step() > fine;
  if (is_coarse && static_cast<double>(table.knots().size()) < 2 * LogitTable::most_knots) return false;
  const double coarse = is_coarse ? coarse_error * table.step() / moments.sd : 0;
  return error.possible && std::fabs(error.mean) <= mean_error + coarse &&
         std::fabs(error.variance) <= mean_error + tail_error * deviations * deviations + coarse;
}

}  // namespace mr
