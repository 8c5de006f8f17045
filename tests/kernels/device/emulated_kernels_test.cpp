// Runs kernels of ranked lists on emulated GPU lanes. Results must have the same bits in every order of the lanes and
// for a warp or a block per list, and agree with serial results to rounding. This finds kernels with data races between
// lanes, or with nested operations, without a GPU.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/launch_cpu.h"
#include "kernels/losses/rows.h"
#include "kernels/models/rows.h"
#include "kernels/ranking/rows.h"
#include "kernels/smooth/rows.h"
#include "kernels/tensor/rows.h"
#include "tests/support/emulated_group.h"
#include "tests/support/swap_forms.h"

namespace mr {
namespace {

/// A kernel backend that runs emulated GPU lanes. The number of lanes and their order are variables and not template
/// arguments, so that each kernel is compiled once.
struct EmulatedBackend {
  static inline int lanes = 128;
  static inline test::Order order = test::Order::forward;

  static int64_t at(int64_t count, int64_t i) { return order == test::Order::forward ? i : count - 1 - i; }
  template <class Work>
  static void lists(int64_t count, const Work& work) {
    for (int64_t l = 0; l < count; ++l) work(test::EmulatedGroup(lanes, order), at(count, l));
  }
  template <class Work>
  static void elements(int64_t count, const Work& work) {
    for (int64_t i = 0; i < count; ++i) work(at(count, i));
  }
};

/// Test input: lists of n, 0, 1 and n + 1 rows with grades 0, 1 and 2. If n is even, the last list has no relevant row.
template <class Real>
struct Case {
  std::vector<int64_t> offsets, target_offsets{0}, users, items;
  std::vector<Real> scores, factors;
  std::vector<float> grades;
  std::vector<int32_t> targets;
  std::vector<double> ideal, sums{0}, harmonic{0};

  Case(int64_t n, const std::string& shape) : offsets{0, n, n, n + 1, 2 * n + 2} {
    const RandomKey key = random_key(static_cast<uint64_t>(n), shape.c_str());
    const int64_t rows = offsets.back();
    for (int64_t i = 0; i < rows; ++i) {
      const double u = uniform(key, static_cast<uint64_t>(i));
      scores.push_back(static_cast<Real>(shape == "equal"  ? 1
                                         : shape == "ties" ? std::floor(4 * u)
                                         : shape == "wide" ? 1000 * u
                                                           : 3 * u));
      const bool none = i >= n + 1 && n % 2 == 0;
      grades.push_back(none ? 0.0F : static_cast<float>(philox(key, static_cast<uint64_t>(i), 1).word[2] % 3));
      items.push_back(i % 5 + 1);
    }
    for (int64_t list = 0; list < count(); ++list) {
      for (int64_t i = offsets[list]; i < offsets[list + 1]; ++i) {
        if (grades[i] > 0) targets.push_back(static_cast<int32_t>(i - offsets[list]));
      }
      target_offsets.push_back(static_cast<int64_t>(targets.size()));
      ideal.push_back(2.5);
      users.push_back(list % 3 + 1);
    }
    for (int64_t r = 1; r <= rows + 1; ++r) {
      sums.push_back(sums.back() + discount(static_cast<double>(r)));
      harmonic.push_back(harmonic.back() + 1.0 / static_cast<double>(r));
    }
    for (int i = 0; i < 5 * 7; ++i) factors.push_back(static_cast<Real>(std::sin(i)));
  }

  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
  Ragged lists() const { return {offsets.data(), count()}; }
  Chosen chosen() const { return {{target_offsets.data(), count()}, targets.data()}; }
};

template <class T>
Span<T> span(std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}
template <class T>
Span<const T> span(const std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

/// Collects everything that the kernels write into one vector of numbers.
class Results {
 public:
  template <class T>
  void add(const std::vector<T>& v) {
    numbers.insert(numbers.end(), v.begin(), v.end());
  }
  std::vector<double> numbers;
};

template <class Real, class Backend>
void run_smooth(const Case<Real>& c, Results& results) {
  const auto table = SmoothKernels<Real>::template made_for<Backend>();
  const size_t p = c.targets.size();
  std::vector<Real> rank(p), among(p), terms(p), g(p), h(p), value(4), upstream(4, Real(1.5)), out(c.scores.size());
  std::vector<double> slope(p);
  const Real steepness = 1.25;
  table.smooth_rank(c.count(), {span(c.scores), c.lists(), c.chosen(), {c.lists(), nullptr}, steepness, span(rank)});
  table.smooth_rank(c.count(), {span(c.scores), c.lists(), c.chosen(), c.chosen(), steepness, span(among)});
  table.smooth_rr_terms(c.count(), {span(c.scores), c.lists(), c.chosen(), steepness, span<Real>(rank), span(terms)});
  results.add(rank);
  results.add(among);
  results.add(terms);
  const SmoothMetricViews<Real> forward{c.chosen(), span<Real>(rank), span<Real>(among), {}, span(value), {}, {}};
  SmoothMetricViews<Real> backward = forward;
  backward.upstream = span<Real>(upstream);
  backward.g = span(g);
  backward.h = span(h);
  const auto both = [&](auto run, bool uses_h) {
    run(forward);
    results.add(value);
    run(backward);
    results.add(g);
    table.smooth_rank_vjp(c.count(), {span(c.scores), c.lists(), c.chosen(), steepness, span<Real>(g),
                                      uses_h ? Span<const Real>(span<Real>(h)) : Span<const Real>{}, span(out)});
    results.add(out);
  };
  both(
      [&](const auto& v) {
        table.smooth_ndcg(c.count(), {v, span(c.grades), c.lists(), span(c.ideal), span(slope)});
      },
      false);
  both([&](const auto& v) { table.smooth_ap(c.count(), {v}); }, true);
  both([&](const auto& v) { table.smooth_nrbp_loss(c.count(), {v}); }, false);
  both([&](const auto& v) { table.smooth_rr(c.count(), {v, span<Real>(terms)}); }, false);
  table.smooth_rr_product_vjp(c.count(), {span(c.scores), c.lists(), c.chosen(), steepness, span<Real>(terms),
                                          span<Real>(upstream), span(out)});
  results.add(out);
  table.smooth_first(c.count(), {c.lists(), c.chosen(), span<Real>(terms), {}, span(out)});
  results.add(out);
  table.smooth_first(c.count(), {c.lists(), c.chosen(), span<Real>(terms), span(c.scores), span(g)});
  results.add(g);
}

template <class Real, class Backend>
void run_metrics(const Case<Real>& c, Ties ties, Results& results) {
  const auto table = MetricKernels<Real>::template made_for<Backend>();
  std::vector<Placement> places(c.scores.size());
  std::vector<Real> out(4);
  table.place(c.count(), {span(c.scores), span(c.grades), {}, c.lists(), 1, ties, span(places)});
  for (const Placement& p : places) {
    results.add(std::vector<int32_t>{p.above, p.tied, p.relevant_above, p.relevant_tied});
  }
  const int64_t count = c.count();
  for (const int64_t k : {int64_t{3}, int64_t{1} << 30}) {
    const MetricViews<Real> v{span<Placement>(places), c.lists(), span(c.grades), c.chosen(), k, -1, span(out)};
    const auto add = [&] { results.add(out); };
    table.dcg(count, {v, Gain::exp2, span(c.sums), span(c.ideal), true}), add();
    table.average_precision(count, {v, span(c.harmonic), false}), add();
    table.rank_biased_precision(count, {v, 0.95, true}), add();
    table.nrbp_loss(count, {v}), add();
    table.wrong_pairs(count, {v}), add();
    table.hits_at(count, {v, HitsAt<Real>::cutoff}), add();
    table.first_relevant(count, {v, true}), add();
    table.bpref(count, {v}), add();
    table.time_biased_gain(count, {v, {portable::base_of(0.93), portable::base_of(0.96), 0.5}}), add();
  }
}

template <class Real, class Backend>
void run_lambda(const Case<Real>& c, Results& results) {
  std::vector<Placement> places(c.scores.size());
  MetricKernels<Real>::template made_for<Backend>().place(
      c.count(), {span(c.scores), span(c.grades), {}, c.lists(), 1, Ties::stable, span(places)});
  std::vector<double> spare(c.scores.size());
  std::vector<Real> value(4), derivative(c.scores.size());
  const test::SwapTables tables(static_cast<int64_t>(c.scores.size()), 4);
  for (const test::SwapForm& form : test::swap_forms(tables)) {
    test::with_swaps(form, [&]<class Swaps>(const Swaps& swaps) {
      std::vector<typename Swaps::Row> rows(c.scores.size());
      LambdaKernels<Real>::template made_for<Backend>().template of<Swaps>()(
          c.count(), {.of = {span<Placement>(places), span(c.grades), c.lists(), c.chosen()},
                      .swaps = swaps,
                      .rows = span(rows),
                      .spare = span(spare),
                      .scores = span(c.scores),
                      .steepness = Real(1.25),
                      .value = span(value),
                      .derivative = span(derivative)});
    });
    results.add(value);
    results.add(derivative);
  }
}

template <class Real, class Backend>
void run_lists(const Case<Real>& c, Results& results) {
  const auto table = ArithmeticKernels<Real>::template made_for<Backend>();
  std::vector<Real> value(4), rows(c.scores.size()), back(c.scores.size());
  std::vector<int64_t> at(4);
  table.list_sum(c.count(), {span(c.scores), c.lists(), true, span(value)});
  results.add(value);
  table.spread(c.count(), {span<Real>(value), c.lists(), false, span(rows)});
  results.add(rows);
  table.list_max(c.count(), {span(c.scores), c.lists(), span(value), span(at)});
  for (const int64_t i : at) results.add(std::vector<int64_t>{i});
  table.list_softmax(c.count(), {span(c.scores), c.lists(), span(rows)});
  results.add(rows);
  table.list_softmax_vjp(c.count(), {span<Real>(rows), span(c.scores), c.lists(), span(back)});
  results.add(back);
  for (const bool reverse : {false, true}) {
    table.list_cumsum(c.count(), {span(c.scores), c.lists(), reverse, span(rows)});
    results.add(rows);
  }
}

template <class Real, class Backend>
void run_factors(const Case<Real>& c, Results& results) {
  const auto table = TrainingKernels<Real>::template made_for<Backend>();
  const int64_t width = 7;
  std::vector<Real> scores(c.scores.size()), by_user(static_cast<size_t>(c.count() * width));
  table.factor_scores(
      c.count(),
      {span(c.factors), span(c.factors), {c.users.data()}, {c.items.data()}, c.lists(), width, span(scores)});
  results.add(scores);
  table.factor_user_gradients(c.count(),
                              {span(c.factors), {c.items.data()}, c.lists(), width, span(c.scores), span(by_user)});
  results.add(by_user);
  // Row numbers sorted by item: even rows belong to the first of three items, odd rows to the third, and the last row
  // also to the second.
  std::vector<int64_t> order, starts{0}, users;
  const auto rows = static_cast<int64_t>(c.scores.size());
  for (int64_t r = 0; r < rows; r += 2) order.push_back(r);
  starts.push_back(static_cast<int64_t>(order.size()));
  order.push_back(rows - 1);
  starts.push_back(static_cast<int64_t>(order.size()));
  for (int64_t r = 1; r < rows; r += 2) order.push_back(r);
  starts.push_back(static_cast<int64_t>(order.size()));
  for (size_t k = 0; k < order.size(); ++k) users.push_back(1 + static_cast<int64_t>(k) % 5);
  std::vector<Real> by_item(static_cast<size_t>(3 * width));
  table.factor_item_gradients(3, {span(c.factors),
                                  {users.data()},
                                  {order.data(), static_cast<int64_t>(order.size())},
                                  {starts.data(), static_cast<int64_t>(starts.size())},
                                  width,
                                  span(c.scores),
                                  span(by_item)});
  results.add(by_item);
}

template <class Real, class Backend>
std::vector<double> run(int64_t n, const std::string& shape) {
  const Case<Real> c(n, shape);
  Results results;
  run_smooth<Real, Backend>(c, results);
  for (const Ties ties : {Ties::mean, Ties::stable, Ties::worst}) run_metrics<Real, Backend>(c, ties, results);
  run_lambda<Real, Backend>(c, results);
  run_lists<Real, Backend>(c, results);
  run_factors<Real, Backend>(c, results);
  return results.numbers;
}

template <class Real>
std::vector<double> run_lanes(int lanes, test::Order order, int64_t n, const std::string& shape) {
  EmulatedBackend::lanes = lanes;
  EmulatedBackend::order = order;
  return run<Real, EmulatedBackend>(n, shape);
}

/// Returns the index of the first number whose bits differ (NaN equals NaN), or -1.
int64_t first_difference(const std::vector<double>& a, const std::vector<double>& b) {
  REQUIRE(a.size() == b.size());
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i] && !(std::isnan(a[i]) && std::isnan(b[i]))) return static_cast<int64_t>(i);
  }
  return -1;
}

TEMPLATE_TEST_CASE("list kernels on emulated lanes have the same bits in every lane order and agree with the CPU",
                   "[kernels][emulated]", float, double) {
  const auto n = GENERATE(as<int64_t>(), 0, 1, 31, 32, 33, 127, 128, 129, 300);
  const std::string shape = GENERATE("narrow", "equal", "ties", "wide");
  CAPTURE(n, shape);
  const auto block = run_lanes<TestType>(128, test::Order::forward, n, shape);
  CHECK(first_difference(block, run_lanes<TestType>(128, test::Order::backward, n, shape)) == -1);
  CHECK(first_difference(block, run_lanes<TestType>(32, test::Order::forward, n, shape)) == -1);
  CHECK(first_difference(block, run_lanes<TestType>(32, test::Order::backward, n, shape)) == -1);

  const auto serial = run<TestType, cpu::Backend>(n, shape);
  const double tolerance =
      sizeof(TestType) == 4 ? 2e-6 : 1e-12;  // relative to terms that can be a thousand times larger than their sum
  REQUIRE(serial.size() == block.size());
  int64_t far = -1;
  for (size_t i = 0; i < serial.size() && far < 0; ++i) {
    const bool close = serial[i] == block[i] || (std::isnan(serial[i]) && std::isnan(block[i])) ||
                       std::fabs(serial[i] - block[i]) <= tolerance * (1 + std::fabs(serial[i]));
    if (!close) far = static_cast<int64_t>(i);
  }
  CHECK(far == -1);
}

}  // namespace
}  // namespace mr
