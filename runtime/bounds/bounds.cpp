// Lua functions that return the statistics of a metric over all rankings of each list.
#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/bounds/bound_stats.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

/// Statistics of a metric over all rankings, one value per list: min, max, best (that of the ideal ranking),
/// expectation and standard deviation; NaN where undefined. `sd` is NaN unless requested, because AP's takes O(N P).
struct BoundTable {
  Tensor min, max, best, expectation, sd;
  static constexpr auto fields =
      lua::fields("min", &BoundTable::min, "max", &BoundTable::max, "best", &BoundTable::best, "expectation",
                  &BoundTable::expectation, "sd", &BoundTable::sd);
};

BoundTable bound_table(const Metric& metric, const Lists& lists, const std::string& dtype, const std::string& device,
                       bool sd) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> min, max, best, mean, deviation;
  check_grades(metric, lists);
  for (const ListShape& shape : list_shapes(lists, metric)) {
    const BoundStats s = bound_stats(metric, shape, sd);
    min.push_back(s.min);
    max.push_back(s.max);
    best.push_back(s.best);
    mean.push_back(s.expectation);
    deviation.push_back(sd ? std::sqrt(s.variance) : nan);
  }
  const Device where = to_device(device);
  const auto tensor = [&](const std::vector<double>& v) { return per_list_tensor(v, dtype, where); };
  return {tensor(min), tensor(max), tensor(best), tensor(mean), tensor(deviation)};
}

struct WeightKey {
  int64_t metric;
  auto operator<=>(const WeightKey&) const = default;
};

std::vector<double> weights_of(const Metric& metric, const Lists& lists) {
  return lists.per_list<double>(WeightKey{metric.number}, [&](const float* grades, int64_t n) {
    return degenerate(metric, shape_of(metric, grades, n)) ? 0. : 1.;
  });
}

/// Returns a weight per list: 1 if the order of the list's rows can change the metric, 0 if it cannot (a degenerate
/// list).
Tensor list_weights(const Metric& metric, const Lists& lists, const std::string& dtype, const std::string& device) {
  return per_list_tensor(weights_of(metric, lists), dtype, to_device(device));
}

int64_t count_lists(const Metric& metric, const Lists& lists) {
  int64_t count = 0;
  for (const double weight : weights_of(metric, lists)) count += weight > 0 ? 1 : 0;
  return count;
}

/// Returns the numbers, counted from 1, of the lists in which the order of rows can change the metric.
Tensor counted_lists(const Metric& metric, const Lists& lists, const std::string& device) {
  std::vector<int64_t> numbers;
  const auto& shapes = list_shapes(lists, metric);
  for (size_t l = 0; l < shapes.size(); ++l) {
    if (!degenerate(metric, shapes[l])) numbers.push_back(static_cast<int64_t>(l) + 1);
  }
  return Tensor::from(numbers, to_device(device));
}

/// Statistics of a metric over all rankings of one list shape: min, max, best (that of the ideal ranking), expectation
/// and standard deviation.
struct BoundNumbers {
  double min, max, best, expectation, sd;
  static constexpr auto fields =
      lua::fields("min", &BoundNumbers::min, "max", &BoundNumbers::max, "best", &BoundNumbers::best, "expectation",
                  &BoundNumbers::expectation, "sd", &BoundNumbers::sd);
};

BoundNumbers bound_numbers(const Metric& metric, std::optional<int64_t> n, std::optional<int64_t> p,
                           const std::vector<double>& grades) {
  const BoundStats s = bound_stats(metric, shape_of(metric, n, p, grades), true);
  return {s.min, s.max, s.best, s.expectation, std::sqrt(s.variance)};
}

}  // namespace

using lua::op;
extern const lua::OpTable bound_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&bound_table>("bound_table", "metric, lists, dtype, device, sd",
                         "min, max, best, expectation, sd per list."),
        op<&list_weights>("list_weights", "metric, lists, dtype, device",
                          "1 for lists on which the order of rows can change the metric, else 0."),
        op<&count_lists>("count_lists", "metric, lists",
                         "Number of lists on which the order of rows can change the metric."),
        op<&counted_lists>("counted_lists", "metric, lists, device",
                           "Numbers of the lists on which the order of rows can change the metric."),
        op<&bound_numbers>("bound_numbers", "metric, n, p, grades", "min, max, best, expectation, sd of one shape."),
    }};

}  // namespace mr
