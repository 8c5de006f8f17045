#include "runtime/bounds/affine.h"

#include <cmath>
#include <string_view>

#include "kernels/tensor/rows.h"
#include "runtime/autograd/node.h"
#include "runtime/bounds/bound_stats.h"
#include "runtime/ops/argument_checks.h"

namespace mr {

// Returns all affine bounds, which map a list's metric M to slope * M + offset. If the `text` of a bound states results
// of experiments, it names the scripts that compute them.
const std::vector<AffineBound>& affine_bounds() {
  static const std::vector<AffineBound> all{
      {.name = "none",
       .needs = AffineBound::nothing,
       .line =
           [](const BoundStats&) {
             return Line{1, 0};
           },
       .formula = "M",
       .source = "-",
       .text = "The smooth metric itself. Lists with a wide range of values weigh more, above all long lists under "
               "the nRBP loss."},
      {.name = "minmax",
       .needs = AffineBound::range,
       .line =
           [](const BoundStats& s) {
             return Line{1 / (s.max - s.min), -s.min / (s.max - s.min)};
           },
       .formula = "(M - min) / (max - min)",
       .source = "Westerborg 2022, Eq. 3.1; min by Eqs. 3.2 to 3.4 (3.2 divided by the ideal DCG)",
       .text =
           R"(The values of every list fill [0, 1], and the weight of a list is 1 / (max - min). If all lists have the
same ratio of relevant to other rows, only the weights of the nRBP loss differ much: they are 1 / (P (N - P)).
scripts/thesis/table_5_1.lua and claim.lua compare losses under this bound.)"},
      {.name = "expectation",
       .needs = AffineBound::mean,
       .line =
           [](const BoundStats& s) {
             return Line{1 / s.expectation, 0};
           },
       .formula = "M / E",
       .source = "Westerborg 2022, Eq. 3.6; E by Eqs. 3.7 to 3.10",
       .text =
           R"(1 is the mean over random rankings. The bounded nRBP loss is 2 L / (P (N - P)) for the loss L, which is
`minmax` with twice the slope.)"},
      {.name = "expectation_max",
       .needs = AffineBound::mean,
       .line =
           [](const BoundStats& s) {
             const double reach = std::fabs(s.best - s.expectation);
             return Line{1 / reach, -s.expectation / reach};
           },
       .formula = "(M - E) / |best - E|",
       .source = "Westerborg 2022, Eq. 3.11, with the best end in place of the largest value",
       .text =
           R"(0 is the mean over random rankings. The best ranking has 1, or -1 if less is better. The nRBP loss has the
gradient that it has under `expectation`. If few rows of a list are not relevant, its weight can be large;
`mr.bounds.weighted(name, {cap = ...})` limits it.)"},
      {.name = "zscore",
       .needs = AffineBound::variance,
       .line =
           [](const BoundStats& s) {
             const double sd = std::sqrt(s.variance);
             return Line{1 / sd, -s.expectation / sd};
           },
       .formula = "(M - E) / sd",
       .source = "ours; closed forms of the variance, else of random orders",
       .text =
           R"(0 is the mean over random rankings, and 1 is one standard deviation above it. The bound is made for lists
of very different lengths that are trained together: the metric has the standard deviation 1 over random rankings of
every list. The bound is affine, so its gradient does not vanish.)"}};
  return all;
}

namespace {

std::vector<AffineBound> affine_bounds_of() { return affine_bounds(); }

struct LineKey {
  int64_t metric;
  std::string_view bound;
  auto operator<=>(const LineKey&) const = default;
};

/// Returns slope and offset of an affine bound for every list. They are cached with the lists, so that the statistics
/// of the metric are computed in the first epoch only.
std::vector<Line> lines_of(const Metric& metric, const Lists& lists, const AffineBound& bound) {
  if (bound.needs != AffineBound::nothing) check_grades(metric, lists);
  return lists.per_list<Line>(LineKey{metric.number, bound.name}, [&](const float* grades, int64_t n) {
    const ListShape shape = shape_of(metric, grades, n);
    if (degenerate(metric, shape)) return Line{0, 0};
    if (bound.needs == AffineBound::nothing) return bound.line({});
    return bound.line(bound_stats(metric, shape, bound.needs == AffineBound::variance));
  });
}

/// Returns slope and offset of an affine bound for every list. Both are 0 for degenerate lists, whose metric has the
/// same value for all rankings.
std::tuple<Tensor, Tensor> affine_bound(const Metric& metric, const Lists& lists, const AffineBound& bound,
                                        const std::string& dtype, const std::string& device) {
  std::vector<double> slope, offset;
  for (const Line& line : lines_of(metric, lists, bound)) {
    slope.push_back(line.slope);
    offset.push_back(line.offset);
  }
  return {per_list_tensor(slope, dtype, to_device(device)), per_list_tensor(offset, dtype, to_device(device))};
}

Tensor affine_bounded(const Tensor& score, const Metric& metric, const Lists& lists, const AffineBound& bound) {
  check::per_list("score", score, lists);
  const Shape one_each{lists.count()};
  const Tensor slope = Tensor::empty(one_each, score.dtype()), offset = Tensor::empty(one_each, score.dtype());
  Tensor out = Tensor::empty(score.shape(), score.dtype(), score.device());
  const std::vector<Line> lines = lines_of(metric, lists, bound);
  const Tensor slope_there = with_real(score.dtype(), [&]<class Real>() {
    for (size_t l = 0; l < lines.size(); ++l) {
      slope.span<Real>()[static_cast<int64_t>(l)] = static_cast<Real>(lines[l].slope);
      offset.span<Real>()[static_cast<int64_t>(l)] = static_cast<Real>(lines[l].offset);
    }
    const Tensor a = slope.to(score.device()), b = offset.to(score.device());
    const auto& table = kernels<ArithmeticKernels<Real>>(score.device());
    const Span<Real> to = out.span<Real>();
    table.mul(lists.count(), {.a = score.span<const Real>(), .b = a.span<const Real>(), .out = to});
    table.add(lists.count(), {.a = out.span<const Real>(), .b = b.span<const Real>(), .out = to});
    return a;
  });
  return record("affine_bounded", out, {score}, [slope = slope_there](const Tensor& g) -> Gradients {
    const Tensor by_score = Tensor::empty(g.shape(), g.dtype(), g.device());
    with_real(g.dtype(), [&]<class Real>() {
      kernels<ArithmeticKernels<Real>>(g.device())
          .mul(g.entries(), {.a = g.span<const Real>(), .b = slope.span<const Real>(), .out = by_score.span<Real>()});
    });
    return {by_score};
  });
}

/// Returns slope and offset of an affine bound from statistics that a script passes, for metrics whose statistics are
/// estimated from samples.
std::tuple<double, double> affine_numbers(const AffineBound& bound, double min, double max, double best, double mean,
                                          double sd) {
  const Line line = bound.line({.min = min, .max = max, .best = best, .expectation = mean, .variance = sd * sd});
  return {line.slope, line.offset};
}

std::string name_of_bound(const AffineBound& bound) { return bound.name; }
std::string formula_of(const AffineBound& bound) { return bound.formula; }
std::string source_of(const AffineBound& bound) { return bound.source; }
std::string text_of(const AffineBound& bound) { return bound.text; }
std::string needs_of(const AffineBound& bound) {
  constexpr const char* names[] = {"nothing", "range", "mean", "variance"};
  return names[bound.needs];
}

}  // namespace

using lua::op;
extern const lua::OpTable affine_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&affine_bounds_of>("affine_bounds", "", "All affine bounds."),
        op<&affine_bound>("affine_bound", "metric, lists, bound, dtype, device",
                          "Slope and offset of an affine bound per list."),
        op<&affine_bounded>("affine_bounded", "score, metric, lists, bound",
                            "The score of every list under an affine bound."),
        op<&affine_numbers>("affine_numbers", "bound, min, max, best, expectation, sd",
                            "Slope and offset of an affine bound from the statistics of one list."),
    }};
extern const lua::OpTable affine_getters{
    lua::OpTable::getters,
    &lua::push_metatable<AffineBound>,
    {
        op<&name_of_bound>("name", "self", "The bound's name."),
        op<&formula_of>("formula", "self", "The formula of the bounded value."),
        op<&source_of>("source", "self", "Paper and equation."),
        op<&text_of>("text", "self", "The bound's effect on a list, and when it helps."),
        op<&needs_of>("needs", "self",
                      "The statistics that the bound uses: \"nothing\", \"range\", \"mean\" or \"variance\"."),
    }};

}  // namespace mr
