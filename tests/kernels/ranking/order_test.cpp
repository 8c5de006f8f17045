// Compares placements (the ranks that a row and its ties occupy) by the CPU's sorting form with those of the plain
// counting form, on one lane and on emulated GPU lanes, and both with the rules of the tie options. Also tests ranks
// and orders that are computed from placements.
#include "kernels/ranking/order.h"

#include <algorithm>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/device/gpu.h"
#include "kernels/ranking/rows.h"
#include "runtime/tensor/tensor.h"
#include "tests/support/devices.h"
#include "tests/support/emulated_group.h"

using namespace mr;

namespace mr {
bool operator==(const Placement& a, const Placement& b) {
  return a.above == b.above && a.tied == b.tied && a.relevant_above == b.relevant_above &&
         a.relevant_tied == b.relevant_tied && a.before == b.before;
}
std::ostream& operator<<(std::ostream& out, const Placement& p) {
  return out << p.above << " above, " << p.tied << " tied, relevant " << p.relevant_above << " and " << p.relevant_tied
             << ", before " << p.before;
}
}  // namespace mr

namespace {

template <class T>
Span<const T> view(const std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

// this number of score levels selects scores that differ by 1e-13: different in float64, equal in float32
constexpr int64_t near = 300;

/// Test input: lists of n, 0, 1 and n + 1 rows. Scores have `levels` different values, two of which are infinities;
/// with levels = 1, all scores are equal.
template <class Real>
struct Case {
  std::vector<Real> scores;
  std::vector<float> relevance;
  std::vector<int64_t> keys, offsets;

  Case(int64_t n, int64_t levels) : offsets{0, n, n, n + 1, 2 * n + 2} {
    for (int64_t i = 0; i < offsets.back(); ++i) {
      const Random128 bits = philox(random_key(5, "order"), static_cast<uint64_t>(i), static_cast<uint64_t>(levels));
      const auto level = static_cast<int64_t>(bounded(bits.low(), static_cast<uint64_t>(levels)));
      const Real infinity = std::numeric_limits<Real>::infinity();
      scores.push_back(level == 1 ? infinity : level == 2 ? -infinity : static_cast<Real>(value_of(level, levels)));
      relevance.push_back(static_cast<float>(bits.high() % 3));
      keys.push_back(static_cast<int64_t>((bits.high() >> 8) % 50));
    }
  }
  static double value_of(int64_t level, int64_t levels) {
    return levels == near ? 1 + 1e-13 * static_cast<double>(level) : static_cast<double>(level);
  }
  Ragged lists() const { return {offsets.data(), 4}; }
  Place<Real> work(Ties ties, std::vector<Placement>& out) const {
    out.assign(scores.size(), {-1, -1, -1, -1, -1});
    return {
        view(scores), view(relevance), view(keys), lists(), 1, ties, {out.data(), static_cast<int64_t>(out.size())}};
  }
};

}  // namespace

TEMPLATE_TEST_CASE("Place by sorting gives the same placements as by counting", "", float, double) {
  const int64_t n = GENERATE(0, 1, 2, 31, 32, 33, 127, 128, 129, 1000);
  const int64_t levels = GENERATE(1, 7, near, 1000000);
  const Ties ties = GENERATE(Ties::mean, Ties::stable, Ties::worst, Ties::trec);
  CAPTURE(n, levels, static_cast<int>(ties));
  const Case<TestType> c(n, levels);
  std::vector<Placement> sorted, counted, emulated, backward;
  cpu_table<MetricKernels<TestType>>().place(4, c.work(ties, sorted));
  for (int64_t list = 0; list < 4; ++list) {
    c.work(ties, counted)(SerialGroup{}, list);
    const int64_t at = c.offsets[list], end = c.offsets[list + 1];
    c.work(ties, emulated)(test::EmulatedGroup(), list);
    c.work(ties, backward)(test::EmulatedGroup(32, test::Order::backward), list);
    for (int64_t i = at; i < end; ++i) {
      REQUIRE(sorted[i] == counted[i]);
      REQUIRE(sorted[i] == emulated[i]);
      REQUIRE(sorted[i] == backward[i]);
    }
  }
}

TEMPLATE_TEST_CASE("Place on the GPU, by sorting and by counting, gives the same placements as on the CPU", "[gpu]",
                   float, double) {
  if (!test::has(Device::cuda)) return;
  const int64_t n = GENERATE(0, 1, 2, 31, 32, 33, 127, 128, 129, 1000);
  const int64_t levels = GENERATE(1, 7, 1000000), longest = GENERATE(0, 1001, 1000000);
  const Ties ties = GENERATE(Ties::mean, Ties::stable, Ties::worst, Ties::trec);
  CAPTURE(n, levels, longest, static_cast<int>(ties));
  Case<TestType> c(n, levels);
  c.scores.front() = static_cast<TestType>(-0.0);
  std::vector<Placement> expected, found;
  cpu_table<MetricKernels<TestType>>().place(4, c.work(ties, expected));
  const auto there = [](const auto& values) { return Tensor::from(values, Device::cuda); };
  const Tensor scores = there(c.scores), relevance = there(c.relevance), keys = there(c.keys),
               offsets = there(c.offsets);
  const Storage places(static_cast<int64_t>(expected.size() * sizeof(Placement)), Device::cuda);
  cuda_table<MetricKernels<TestType>>()->place(
      4, {scores.span<const TestType>(),
          relevance.span<const float>(),
          keys.span<const int64_t>(),
          {offsets.span<const int64_t>().data, 4},
          1,
          ties,
          {static_cast<Placement*>(places.data()), static_cast<int64_t>(expected.size())},
          longest});
  found.resize(expected.size());
  cuda::gpu().copy_to_host(found.data(), places.data(), places.bytes());
  CHECK(found == expected);
}

TEMPLATE_TEST_CASE("Place follows the rules of the tie options mean, stable, worst and trec", "", float, double) {
  // five rows with scores 2 1 1 1 0, grades 0 1 0 2 1, and keys (which order ties under `trec`) 0 1 3 2 4
  Case<TestType> c(0, 1);
  c.scores = {2, 1, 1, 1, 0};
  c.relevance = {0, 1, 0, 2, 1};
  c.keys = {0, 1, 3, 2, 4};
  c.offsets = {0, 5, 5, 5, 5};
  const auto placed = [&](Ties ties) {
    std::vector<Placement> out;
    cpu_table<MetricKernels<TestType>>().place(4, c.work(ties, out));
    return out;
  };
  CHECK(placed(Ties::mean) ==
        std::vector<Placement>{{0, 1, 0, 0, 0}, {1, 3, 0, 2, 0}, {1, 3, 0, 2, 1}, {1, 3, 0, 2, 2}, {4, 1, 2, 1, 0}});
  CHECK(placed(Ties::stable) ==
        std::vector<Placement>{{0, 1, 0, 0, 0}, {1, 1, 0, 1, 0}, {2, 1, 1, 0, 0}, {3, 1, 1, 1, 0}, {4, 1, 2, 1, 0}});
  CHECK(placed(Ties::worst) ==
        std::vector<Placement>{{0, 1, 0, 0, 0}, {2, 1, 0, 1, 0}, {1, 1, 0, 0, 0}, {3, 1, 1, 1, 0}, {4, 1, 2, 1, 0}});
  CHECK(placed(Ties::trec) ==
        std::vector<Placement>{{0, 1, 0, 0, 0}, {3, 1, 1, 1, 0}, {1, 1, 0, 0, 0}, {2, 1, 0, 1, 0}, {4, 1, 2, 1, 0}});
}

TEMPLATE_TEST_CASE("rank_of sums to n (n + 1) / 2 per list, and order_of is the stable sort", "", float, double) {
  const int64_t n = GENERATE(0, 1, 33, 128, 1000), levels = GENERATE(1, 7, 1000000);
  const Ties ties = GENERATE(Ties::mean, Ties::stable);
  CAPTURE(n, levels, static_cast<int>(ties));
  const Case<TestType> c(n, levels);
  std::vector<Placement> places;
  const auto& table = cpu_table<MetricKernels<TestType>>();
  table.place(4, c.work(ties, places));
  std::vector<TestType> ranks(places.size());
  std::vector<int64_t> order(places.size());
  const auto rows = static_cast<int64_t>(places.size());
  table.rank_of(rows, {view(places), {ranks.data(), rows}});
  table.order_of(4, {view(places), c.lists(), {order.data(), rows}});
  for (int64_t list = 0; list < 4; ++list) {
    const int64_t at = c.offsets[list], size = c.offsets[list + 1] - at;
    double total = 0;
    std::vector<int64_t> expected;
    for (int64_t i = at; i < at + size; ++i) {
      total += ranks[i];
      expected.push_back(i + 1);
    }
    CHECK(total == 0.5 * static_cast<double>(size * (size + 1)));
    std::stable_sort(expected.begin(), expected.end(),
                     [&](int64_t a, int64_t b) { return c.scores[a - 1] > c.scores[b - 1]; });
    CHECK(std::vector<int64_t>(order.begin() + at, order.begin() + at + size) == expected);
  }
}
