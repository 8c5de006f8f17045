#include "runtime/bounds/increments.h"

#include <cmath>

#include "kernels/ranking/discount.h"

namespace mr {
namespace {

double ideal_of(const ListShape& shape, const std::vector<double>& d) {
  const std::vector<double> gains = gains_of(shape);
  double ideal = 0;
  for (size_t r = 0; r < d.size(); ++r) ideal += gains[r] * d[r];
  return ideal;
}

}  // namespace

Increments increments_of(const Metric& metric, const ListShape& shape) {
  const ClosedForms& forms = closed_forms_of(metric);
  Increments out{.kind = forms.kind_of(shape),
                 .d = forms.discounts_of(metric, shape),
                 .shift = forms.shift != nullptr ? forms.shift(shape) : 0};
  if (out.kind == Increment::pairs) out.shift = 0;
  out.scale = 1 / (forms.norm != nullptr ? forms.norm(metric, shape) : ideal_of(shape, out.d));
  return out;
}

std::vector<double> gains_of(const ListShape& shape) {
  std::vector<double> gains;
  for (const float grade : shape.grades) gains.push_back(gain_of(grade, shape.gain));
  if (shape.grades.empty()) {
    gains.assign(static_cast<size_t>(shape.n), 0.0);
    std::fill(gains.begin(), gains.begin() + shape.p, 1.0);
  }
  return gains;
}

std::vector<Level> levels_of(const ListShape& shape, Increment kind) {
  if (shape.grades.empty()) {
    std::vector<Level> levels;
    if (shape.p > 0) levels.push_back({1, shape.p, shape.beta});
    if (shape.p < shape.n) levels.push_back({0, shape.n - shape.p, 0});
    return levels;
  }
  std::vector<Level> levels;
  for (const float grade : shape.grades) {
    const double gain = kind == Increment::pairs ? static_cast<double>(grade) : gain_of(grade, shape.gain);
    if (levels.empty() || levels.back().gain != gain) levels.push_back({gain, 0, shape.beta * grade});
    ++levels.back().rows;
  }
  return levels;
}

std::vector<int64_t> rows_of_grades(const ListShape& shape) {
  std::vector<int64_t> rows;
  for (size_t i = 0; i < shape.grades.size(); ++i) {
    if (i == 0 || shape.grades[i] != shape.grades[i - 1]) rows.push_back(0);
    ++rows.back();
  }
  return rows;
}

}  // namespace mr
