// Compares the CPU's pairwise losses, which use a vectorized loop over pairs, with their plain form in double, for
// lists of many sizes and for several distributions of scores. The loop is also compared with exact values for single
// pairs.
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/losses/pairs/pair_form_sums.h"
#include "kernels/losses/rows.h"
#include "kernels/ranking/rows.h"
#include "kernels/tensor/normal.h"
#include "tests/support/spans.h"
#include "tests/support/swap_forms.h"

using namespace mr;
using mr::test::slots;
using mr::test::view;

namespace {

double score(const std::string& shape, int64_t i, int64_t n) {
  const RandomKey key = random_key(static_cast<uint64_t>(n), shape.c_str());
  const double x = normal(key, static_cast<uint64_t>(i));
  const double infinity = std::numeric_limits<double>::infinity();
  if (shape == "equal") return 0.25;
  if (shape == "ties") return std::floor(2 * x);
  if (shape == "wide") return 300 * x;
  // The higher the grade, the higher the score. Every pair is ranked correctly, so infinite differences give a loss of
  // 0.
  if (shape == "infinite") return i % 3 == 2 ? infinity : i % 3 == 0 ? -infinity : static_cast<double>(i % 7);
  return x;
}

float grade(const std::string& shape, int64_t i) {
  if (shape == "none") return 0;
  if (shape == "equal") return 2;
  if (shape == "all different") return static_cast<float>(i * 7919 % 1009) / 64;
  return static_cast<float>(i % 3);
}

/// Test input: a list of n rows, an empty list, and a list of n + 1 rows. Grades repeat 0, 1, 2 if `shape` is "three".
struct Lists {
  std::vector<int64_t> offsets, target_offsets{0};
  std::vector<float> grades;
  std::vector<int32_t> targets;

  explicit Lists(int64_t n, const std::string& shape = "three") : offsets{0, n, n, 2 * n + 1} {
    for (size_t list = 0; list < 3; ++list) {
      for (int64_t i = 0; i < offsets[list + 1] - offsets[list]; ++i) {
        grades.push_back(grade(shape, i));
        if (grades.back() > 0) targets.push_back(static_cast<int32_t>(i));
      }
      target_offsets.push_back(static_cast<int64_t>(targets.size()));
    }
  }
  Ragged ragged() const { return {offsets.data(), 3}; }
};

/// Returns the second derivative of a pairwise loss at a row: the sum over the row's pairs of steepness^2, the pair's
/// weight and the curvature of its cost, in the order of rows.
template <class Real, class Swaps, class Form>
double curvature_at(const LambdaLoss<Real, Swaps, Form>& work, int64_t list, int64_t row) {
  const auto delta = work.swaps.delta(SerialGroup{}, list, work.of, work.rows);
  double sum = 0;
  for (int64_t other = work.of.lists.begin(list); other < work.of.lists.offsets[list + 1]; ++other) {
    for (const auto& [better, worse] : {std::pair(row, other), std::pair(other, row)}) {
      const auto &i = work.rows[better], &j = work.rows[worse];
      if (!are_pair<Swaps>(better, i, worse, j)) continue;
      const double t = score_difference(static_cast<double>(work.scores[worse]),
                                        static_cast<double>(work.scores[better]), double{work.steepness});
      sum += row_weight(work.weights, better) * delta(i, j) * work.form.curvature(PlainMath<double>{}, t);
    }
  }
  return work.steepness * work.steepness * sum;
}

/// Returns the values and derivatives of a pairwise loss for all lists, and second derivatives if the pair's cost has a
/// curvature, computed by the CPU's kernel or, if `plain`, by the plain form. With `every`, every row counts as the
/// better row of pairs. Rows have weights unless `weights` is empty.
template <class Real, class Swaps, class Form = LogisticPair>
std::vector<double> results(const Lists& l, const std::vector<double>& from, const Swaps& swaps, bool plain,
                            Form form = {}, bool every = false, const std::vector<double>& weights = {}) {
  const std::vector<Real> scores(from.begin(), from.end());
  std::vector<Placement> places(scores.size());
  cpu_table<MetricKernels<Real>>().place(
      3, {view(scores), view(l.grades), {}, l.ragged(), 1, Ties::stable, slots(places)});
  constexpr bool has_curvature = requires { form.curvature(PlainMath<double>{}, 0.0); };
  std::vector<Real> value(3), derivative(scores.size(), Real(7)), curvature(has_curvature ? scores.size() : 0, Real(7));
  std::vector<typename Swaps::Row> rows(scores.size());
  std::vector<double> spare(scores.size());
  const Chosen better = every ? Chosen{l.ragged(), nullptr} : Chosen{{l.target_offsets.data(), 3}, l.targets.data()};
  const LambdaLoss<Real, Swaps, Form> work{.of = {view(places), view(l.grades), l.ragged(), better},
                                           .swaps = swaps,
                                           .rows = slots(rows),
                                           .spare = slots(spare),
                                           .scores = view(scores),
                                           .steepness = Real(1.5),
                                           .value = slots(value),
                                           .derivative = slots(derivative),
                                           .form = form,
                                           .weights = weights.empty() ? Span<const double>{} : view(weights),
                                           .curvature = has_curvature && !plain ? slots(curvature) : Span<Real>{}};
  if (plain) {
    for (int64_t list = 0; list < 3; ++list) {
      work(SerialGroup{}, list);
      if constexpr (has_curvature) {
        for (int64_t row = l.offsets[list]; row < l.offsets[list + 1]; ++row)
          curvature[row] = static_cast<Real>(curvature_at(work, list, row));
      }
    }
  } else {
    cpu_table<LambdaKernels<Real>>().template of<Swaps, Form>()(3, work);
  }
  std::vector<double> out(value.begin(), value.end());
  for (const auto& each : {derivative, curvature}) out.insert(out.end(), each.begin(), each.end());
  return out;
}

/// Scores of both non-empty lists, rounded to Real, so that the fast form and the plain form rank rows alike.
template <class Real>
std::vector<double> scores_of(int64_t n, const std::string& shape) {
  std::vector<double> scores;
  for (const int64_t size : {n, n + 1}) {
    for (int64_t i = 0; i < size; ++i) scores.push_back(static_cast<Real>(score(shape, i, n)));
  }
  return scores;
}

template <class Real>
void check_close(const std::vector<double>& found, const std::vector<double>& plain) {
  const double tolerance = sizeof(Real) == 4 ? 2e-6 : 1e-12;
  double largest = 0, far = 0;
  for (const double x : plain) largest = std::max(largest, std::fabs(x));
  CHECK(std::isfinite(largest));
  for (size_t i = 0; i < plain.size(); ++i) far = std::max(far, std::fabs(found[i] - plain[i]));
  // absolute tolerance: a value below the smallest normal number of Real may be rounded to 0
  CHECK(far <= tolerance * largest + std::numeric_limits<Real>::min());
}

TEMPLATE_TEST_CASE("pairwise losses with every metric's weights agree with the plain form on the CPU", "[kernels]",
                   float, double) {
  const auto n = GENERATE(as<int64_t>(), 0, 1, 2, 15, 16, 17, 31, 32, 33, 129, 400);
  const std::string shape = GENERATE("normal", "ties", "equal", "wide", "infinite");
  const test::SwapTables tables(n + 1, 3);
  const std::vector<test::SwapForm> forms = test::swap_forms(tables);
  const auto metric = static_cast<size_t>(GENERATE(range(0, 11)));
  REQUIRE(forms.size() == 11);
  CAPTURE(n, shape, metric);
  const Lists lists(n);
  const std::vector<double> scores = scores_of<TestType>(n, shape);
  test::with_swaps(forms[metric], [&](const auto& swaps) {
    check_close<TestType>(results<TestType>(lists, scores, swaps, false), results<double>(lists, scores, swaps, true));
  });
}

TEMPLATE_TEST_CASE("pairwise losses with every pair form and pair weight agree with the plain form on the CPU",
                   "[kernels]", float, double) {
  const auto n = GENERATE(as<int64_t>(), 0, 1, 2, 15, 16, 17, 31, 32, 33, 129, 400);
  const std::string shape = GENERATE("normal", "ties", "equal", "wide", "infinite");
  CAPTURE(n, shape);
  const test::SwapTables tables(n + 2, 3);
  const Lists lists(n);
  const std::vector<double> scores = scores_of<TestType>(n, shape);
  std::vector<double> weights(scores.size());
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5 * static_cast<double>(i % 4);
  const auto same = [&](const auto& swaps, const auto& form, bool every) {
    for (const auto& of_rows : {std::vector<double>{}, weights})
      check_close<TestType>(results<TestType>(lists, scores, swaps, false, form, every, of_rows),
                            results<double>(lists, scores, swaps, true, form, every, of_rows));
  };
  same(PairSwaps{}, HingePair{0.75}, false);
#define MR_LOSS(name, Form, ...) same(PairSwaps{}, Form{}, false);
  MR_PAIR_FORMS(MR_LOSS, MR_NO_PAIR_FORM)
#undef MR_LOSS
  const std::vector<test::SwapForm> forms = test::swap_forms(tables);
  for (const test::SwapForm& form : forms) {
    test::with_swaps(form, [&]<class Swaps>(const Swaps& swaps) {
#define MR_CHANGE(name, Form) \
  if constexpr (!std::is_same_v<Swaps, PairSwaps>) same(swaps, Form{}, false);
      MR_PAIR_FORMS(MR_NO_PAIR_FORM, MR_CHANGE)
#undef MR_CHANGE
    });
  }
  const std::vector<double> own{2, 3, 4.5};
  same(DistancePairs{view(tables.discounts), view(tables.norms), 10, true}, LogisticPair{}, false);
  same(DistancePairs{view(tables.discounts), view(tables.norms), 1, false}, LogisticPair{}, false);
  std::vector<double> gains(scores.size()), halves(2 * static_cast<size_t>(n) + 3);
  for (size_t i = 0; i < gains.size(); ++i) gains[i] = static_cast<double>(i % 3) * 1.25;
  for (size_t k = 0; k < halves.size(); ++k) halves[k] = 1 / (1 + 0.5 * static_cast<double>(k));
  same(TableSwaps{view(gains), view(halves), view(tables.norms)}, LogisticPair{}, false);
  same(TableSwaps{view(gains), view(halves), view(tables.norms)}, SigmoidPair{}, false);
  // the following losses also have pairs in the wrong order, whose loss is infinite for infinite scores
  if (shape == "infinite") return;
  same(TargetPairs{1.5, {}}, LogisticPair{}, true);
  same(TargetPairs{1, view(own)}, LogisticPair{}, true);
  same(GainPairs{view(tables.discounts), view(tables.norms)}, LogisticPair{}, false);
}

TEMPLATE_TEST_CASE("pairwise losses agree with the plain form on the CPU for many and few different grades",
                   "[kernels]", float, double) {
  const auto n = GENERATE(as<int64_t>(), 0, 1, 15, 16, 17, 18, 31, 32, 33, 127, 128, 129, 1000);
  const std::string shape = GENERATE("normal", "ties", "equal", "wide");
  const std::string grades = GENERATE("none", "equal", "all different", "three");
  CAPTURE(n, shape, grades);
  const Lists lists(n, grades);
  const std::vector<double> scores = scores_of<TestType>(n, shape);
  std::vector<double> weights(scores.size());
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = 0.5 * static_cast<double>(i % 4);
  const auto same = [&](const auto& swaps, const auto& form) {
    for (const auto& of_rows : {std::vector<double>{}, weights})
      check_close<TestType>(results<TestType>(lists, scores, swaps, false, form, false, of_rows),
                            results<double>(lists, scores, swaps, true, form, false, of_rows));
  };
  const test::SwapTables tables(n + 2, 3);
  same(PairSwaps{}, LogisticPair{});
  same(PairSwaps{}, HingePair{0.75});
  same(DistancePairs{view(tables.discounts), view(tables.norms), 10, true}, LogisticPair{});
  same(SumSwaps{view(tables.discounts), view(tables.norms), Gain::exp2, true}, LogisticPair{});
}

TEST_CASE("pair_form_loops' RankNet agrees with exact values and slopes of single differences", "[kernels]") {
  constexpr int64_t n = 32;
  const double infinity = std::numeric_limits<double>::infinity();
  const double differences[] = {0,    1e-300, -1e-300, 1e-9,     -1e-9,     0.3,  -0.3, 1,    -1,   5,    -5,
                                20,   -20,    36,      -36,      100,       -100, 349,  -349, 351,  -351, 800,
                                -800, 1e9,    -1e9,    infinity, -infinity, 0.7,  -0.7, 2.5,  -2.5, 40};
  static_assert(sizeof differences == n * sizeof(double));
  for (int64_t each = 0; each < n; ++each) {
    std::vector<double> s(n, infinity), w(n, 0.0), slopes(n, 2.0);
    s[each] = differences[each];
    w[each] = 0.25;
    std::vector<double> curvatures(n, 3.0);
    const cpu::PairFormSums sums =
        cpu::pair_form_loops().ranknet({}, s.data(), w.data(), n, 0, 1, slopes.data(), curvatures.data());
    const double value = sums.value, slope = sums.slope;
    CAPTURE(s[each]);
    const long double t = s[each], e = std::exp(-std::fabs(t));
    const auto expected = static_cast<double>((t > 0 ? t : 0) + std::log1p(e));
    const auto sigma = static_cast<double>(t < 0 ? e / (1 + e) : 1 / (1 + e));
    if (std::isinf(expected)) {
      CHECK(value == infinity);
    } else {
      CHECK(std::fabs(value - 0.25 * expected) <= 4e-16 * (1 + expected));
    }
    // absolute tolerance: the kernel treats values below e^-350 as 0
    CHECK(std::fabs(slope - 0.25 * sigma) <= 2e-15 * 0.25 * sigma + 1e-152);
    const auto curvature = static_cast<double>(e / ((1 + e) * (1 + e)));
    CHECK(std::fabs(sums.curvature - 0.25 * curvature) <= 1e-16);
    for (int64_t j = 0; j < n; ++j) {
      CHECK(slopes[j] == (j == each ? 2 + slope : 2));
      CHECK(curvatures[j] == (j == each ? 3 + sums.curvature : 3));
    }
  }
}

TEST_CASE("pair_form_loops' RankNet keeps the digits of small losses", "[kernels]") {
  for (const double t : {-0.5, -3.0, -30.0, -300.0}) {
    std::vector<double> s(16, t), w(16, 0.0), slopes(16, 0.0);
    w[3] = 1;
    const double value = cpu::pair_form_loops().ranknet({}, s.data(), w.data(), 16, 0, 1, slopes.data(), nullptr).value;
    CHECK(value == Approx(std::log1p(std::exp(t))).epsilon(2e-15).margin(0));
  }
}

}  // namespace
