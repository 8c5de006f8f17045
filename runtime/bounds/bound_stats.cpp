#include "runtime/bounds/bound_stats.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include "kernels/core/extended.h"
#include "runtime/bounds/increments.h"
#include "runtime/ranking/ideal.h"

namespace mr {
namespace {

constexpr int64_t most_rows = 100'000'000;

struct ShapeKey {
  bool graded, compares;
  float threshold;
  Gain gain;
  double beta;
  auto operator<=>(const ShapeKey&) const = default;
};

/// Returns the number by which a metric divides its sum over rows: the largest possible sum, unless the metric defines
/// another one.
double norm_of(const Metric& metric, const ListShape& shape, const std::vector<double>& gains,
               const std::vector<double>& d) {
  const ClosedForms& forms = closed_forms_of(metric);
  if (forms.norm != nullptr) return forms.norm(metric, shape);
  Extended ideal = 0;
  for (size_t r = 0; r < gains.size(); ++r) ideal += static_cast<Extended>(gains[r]) * d[r];
  return static_cast<double>(ideal);
}

BoundStats computed(const Metric& metric, const ListShape& shape, bool variance) {
  const ClosedForms& forms = closed_forms_of(metric);
  if (forms.kind_of(shape) == Increment::pairs) return wrong_pairs_stats(rows_of_grades(shape));
  if (forms.stats != nullptr) {
    BoundStats stats = forms.stats(shape.n, shape.p);
    if (variance && forms.variance != nullptr) stats.variance = forms.variance(shape.n, shape.p);
    return stats;
  }
  const std::vector<double> gains = gains_of(shape), d = forms.discounts_of(metric, shape);
  return linear_stats(gains, d, norm_of(metric, shape, gains, d));
}

/// Returns the shape of a list for metrics that compare grades of pairs of rows. A list with exactly two grades is
/// described by its number of rows and by the number of rows with the higher grade.
ListShape compared_shape(const float* grades, int64_t n, double beta) {
  if (n == 0) return {0, 0, {}, beta};
  const auto [low, high] = std::minmax_element(grades, grades + n);
  if (*low == *high) return {n, n, {}, beta};
  const int64_t most = std::count(grades, grades + n, *low), best = std::count(grades, grades + n, *high);
  if (most + best == n) return {n, best, {}, beta * static_cast<double>(*high - *low)};
  ListShape shape{n, n - most, {grades, grades + n}, beta};
  std::sort(shape.grades.begin(), shape.grades.end(), std::greater<>());
  return shape;
}

}  // namespace

const ClosedForms& closed_forms_of(const Metric& metric) {
  const ClosedForms* const forms = metric.closed();
  if (forms == nullptr) throw ArgumentError("metric", "'" + metric.name + "' has no closed forms over all rankings");
  return *forms;
}

bool degenerate(const Metric& metric, const ListShape& shape) {
  // A shape of a list is degenerate if all its rankings have the same value: all rows are relevant or none is, or all
  // ranks count equally.
  const ClosedForms& forms = closed_forms_of(metric);
  return shape.of_one_kind() || (forms.discounts == Discounts::ones && forms.counted_ranks(metric, shape) >= shape.n);
}

ListShape shape_of(const Metric& metric, const float* grades, int64_t n, double beta) {
  if (metric.compares_grades()) return compared_shape(grades, n, beta);
  // Rows whose grade is below this threshold have gain 0.
  const float threshold = metric.threshold();
  const float* const end = grades + n;
  ListShape shape{n, std::count_if(grades, end, [threshold](float y) { return y >= threshold; }), {}, beta};
  const float top = n == 0 ? 0 : *std::max_element(grades, end);
  const bool differ = metric.graded() && std::any_of(grades, end, [=](float y) { return y >= threshold && y != top; });
  // If all relevant rows have the same grade, the metric is the same as for grade 1, and the shape needs no grades.
  // With sampling weights it needs them, because the weights depend on the grade.
  const bool weighted = metric.graded() && beta != 0 && top != 1 && shape.p > 0;
  if (differ || weighted) {
    shape.grades.assign(grades, end);
    shape.gain = metric.gain;
    std::sort(shape.grades.begin(), shape.grades.end(), std::greater<>());
  }
  // A shape with p = n (all n rows are relevant) counts as degenerate: all rankings have the same value. That is not
  // true if relevant rows differ in grade, so p is then set to at most n - 1.
  if (differ) shape.p = std::min(shape.p, n - 1);
  return shape;
}

ListShape shape_of(const Metric& metric, std::optional<int64_t> n, std::optional<int64_t> p,
                   const std::vector<double>& grades, double beta) {
  if (grades.empty()) {
    if (!n) throw ArgumentError("n", "is missing: pass n and p, or grades");
    if (!p) throw ArgumentError("p", "is missing: pass n and p, or grades");
    if (*n < 1 || *n > most_rows)
      throw ArgumentError("n", std::to_string(*n) + ", expected 1 to " + std::to_string(most_rows));
    if (*p < 0 || *p > *n)
      throw ArgumentError("p", std::to_string(*p) + ", expected 0 to n, which is " + std::to_string(*n));
    return {*n, *p, {}, beta};
  }
  const auto rows = static_cast<int64_t>(grades.size());
  if (n.value_or(rows) != rows)
    throw ArgumentError("n", std::to_string(*n) + ", but there are " + std::to_string(rows) + " grades");
  if (p) throw ArgumentError("p", "was given together with grades: pass only one of p and grades");
  for (const double y : grades) {
    if (!(y >= 0 && y <= 1000)) throw ArgumentError("grades", number_text(y) + ", expected 0 to 1000");
  }
  const std::vector<float> as_in_lists(grades.begin(), grades.end());
  return shape_of(metric, as_in_lists.data(), rows, beta);
}

void check_grades(const Metric& metric, const Lists& lists) {
  if (metric.graded() && !metric.compares_grades()) check_gains(lists, metric.gain);
}

const std::vector<ListShape>& list_shapes(const Lists& lists, const Metric& metric, double beta) {
  const ShapeKey key{metric.graded(), metric.compares_grades(), metric.threshold(), metric.gain, beta};
  return lists.cached<std::vector<ListShape>>(key, [&] {
    const auto shape = [&](const float* grades, int64_t n) { return shape_of(metric, grades, n, beta); };
    return lists.per_list<ListShape>(key, shape);
  });
}

BoundStats bound_stats(const Metric& metric, const ListShape& shape, bool variance) {
  cpu::check_interrupt();  // checks for Ctrl-C, because bounds may need the statistics of millions of shapes
  if (shape.p == 0) {
    const double none = closed_forms_of(metric).without_relevant;
    return {none, none, none, none, none};
  }
  static std::mutex mutex;
  static std::map<std::tuple<int64_t, bool, ListShape>, BoundStats> known;
  const std::tuple<int64_t, bool, ListShape> key{metric.number, variance, shape};
  {
    const std::lock_guard lock(mutex);
    const auto found = known.find(key);
    if (found != known.end()) return found->second;
  }
  const BoundStats stats = computed(metric, shape, variance);
  const std::lock_guard lock(mutex);
  if (known.size() > 100000) known.clear();
  return known[key] = stats;
}

Tensor per_list_tensor(const std::vector<double>& values, const std::string& dtype, Device device) {
  const Tensor out =
      Tensor::empty({static_cast<int64_t>(values.size())}, dtype == "float64" ? Dtype::float64 : Dtype::float32);
  with_real(out.dtype(), [&]<class Real>() {
    std::transform(values.begin(), values.end(), out.span<Real>().data, [](double x) { return static_cast<Real>(x); });
  });
  return out.to(device);
}

}  // namespace mr
