#include "runtime/bounds/increments.h"

#include <cmath>

#include "kernels/ranking/discount.h"

namespace mr {
namespace {

double increment(const BoundedMetric& metric, int64_t r) {
  const auto rank = static_cast<double>(r);
  const bool counts = r <= metric.k;
  switch (metric.family) {
    case BoundedMetric::ndcg:
      return counts ? discount(rank) : 0;
    case BoundedMetric::ap:
    case BoundedMetric::rr:
      return 1 / rank;
    case BoundedMetric::nrbp_loss:
      return rank - 1;
    case BoundedMetric::rbp:
    case BoundedMetric::nrbp:
      return std::pow(metric.p, rank - 1);
    case BoundedMetric::precision:
    case BoundedMetric::recall:
      return counts ? 1 : 0;
  }
  return 0;
}

double ideal_of(const ListShape& shape, const std::vector<double>& d) {
  const std::vector<double> gains = gains_of(shape);
  double ideal = 0;
  for (size_t r = 0; r < d.size(); ++r) ideal += gains[r] * d[r];
  return ideal;
}

}  // namespace

Increments increments_of(const BoundedMetric& metric, const ListShape& shape) {
  Increments out;
  const auto p = static_cast<double>(shape.p);
  for (int64_t r = 1; r <= shape.n; ++r) out.d.push_back(increment(metric, r));
  switch (metric.family) {
    case BoundedMetric::ndcg:
      if (!shape.grades.empty()) out.kind = Increment::graded;
      out.scale = 1 / ideal_of(shape, out.d);
      break;
    case BoundedMetric::ap:
      out.kind = Increment::average_precision;
      out.scale = 1 / p;
      break;
    case BoundedMetric::rr:
      out.kind = Increment::first;
      break;
    case BoundedMetric::nrbp_loss:
      out.shift = p * (p - 1) / 2;
      break;
    case BoundedMetric::rbp:
      out.scale = 1 - metric.p;
      break;
    case BoundedMetric::nrbp:
      out.scale = (1 - metric.p) / (1 - std::pow(metric.p, p));
      break;
    case BoundedMetric::precision:
      out.scale = 1 / static_cast<double>(metric.k);
      break;
    case BoundedMetric::recall:
      out.scale = 1 / p;
      break;
  }
  return out;
}

std::vector<double> gains_of(const ListShape& shape) {
  std::vector<double> gains;
  for (const float grade : shape.grades) gains.push_back(gain_of(grade));
  if (shape.grades.empty()) {
    gains.assign(static_cast<size_t>(shape.n), 0.0);
    std::fill(gains.begin(), gains.begin() + shape.p, 1.0);
  }
  return gains;
}

std::vector<Level> levels_of(const ListShape& shape) {
  if (shape.grades.empty()) {
    std::vector<Level> levels;
    if (shape.p > 0) levels.push_back({1, shape.p, shape.beta});
    if (shape.p < shape.n) levels.push_back({0, shape.n - shape.p, 0});
    return levels;
  }
  std::vector<Level> levels;
  for (const float grade : shape.grades) {
    const double gain = gain_of(grade);
    if (levels.empty() || levels.back().gain != gain) levels.push_back({gain, 0, shape.beta * grade});
    ++levels.back().rows;
  }
  return levels;
}

}  // namespace mr
