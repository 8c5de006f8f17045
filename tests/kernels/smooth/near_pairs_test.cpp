// Tests of smooth ranks and derivatives of widely spread scores, for which only pairs of rows with near scores are
// visited. They are compared with sums over all pairs in long double. Smooth RR is tested in front_rows_test.cpp.
#include "kernels/smooth/near_pairs.h"

#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/threads.h"
#include "kernels/smooth/rows.h"
#include "tests/support/smooth_list.h"

using namespace mr;
using namespace mr::test;

namespace {

/// Returns widely spread scores: normal scores, or a special case such as ties, clusters, infinities or huge values.
template <class Real>
std::vector<Real> spread_scores(const std::string& name, int64_t n) {
  const Real infinity = std::numeric_limits<Real>::infinity(), huge = std::numeric_limits<Real>::max();
  std::vector<Real> s;
  for (int64_t i = 0; i < n; ++i) {
    const double x = score("normal", i, n), few = static_cast<double>(i % (20 + n / 20));
    if (name == "spread") s.push_back(static_cast<Real>(2000 * x));
    if (name == "ties") s.push_back(static_cast<Real>(100 * few));
    if (name == "clusters") s.push_back(static_cast<Real>(500 * few + x));
    if (name == "infinite") s.push_back(i % 3 == 0 ? infinity : i % 5 == 0 ? -infinity : static_cast<Real>(300 * x));
    if (name == "huge") s.push_back(i % 50 == 0 ? huge : i % 50 == 1 ? -huge : static_cast<Real>(1e6 * x));
    if (name == "shifted") s.push_back(static_cast<Real>(1e6 + 4000 * x));
  }
  return s;
}

template <class Real>
void check_near(List<Real>& list) {
  const Oracle<Real> oracle{list};
  std::vector<Real> found, among;
  REQUIRE(cpu::near_ranks(list.ranks(list.relevant(), list.all(), found, &among), 0));
  check_ranks(oracle, list.relevant(), list.all(), found);
  check_ranks(oracle, list.relevant(), list.relevant(), among);
  REQUIRE(cpu::near_ranks(list.ranks(list.relevant(), list.relevant(), found), 0));
  check_ranks(oracle, list.relevant(), list.relevant(), found);
  REQUIRE(cpu::near_ranks(list.ranks(list.all(), list.all(), found), 0));
  check_ranks(oracle, list.all(), list.all(), found);
  for (const bool with_h : {false, true}) {
    REQUIRE(cpu::near_vjp(list.vjp(found, with_h), 0));
    check_derivatives(oracle, with_h, found);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("near_ranks and near_vjp agree with sums over all pairs for widely spread scores", "", float,
                   double) {
  const std::string name = GENERATE("spread", "ties", "clusters", "infinite", "huge", "shifted");
  const int64_t n = GENERATE(31, 32, 33, 127, 128, 129, 256, 600, 1000);
  const TestType steepness = GENERATE(TestType(1), TestType(-1), TestType(0.7));
  CAPTURE(name, n, steepness);
  if (name == "infinite" && n > 129) return;  // long lists of this kind have too many equal scores for this method
  for (const int64_t every : {1, 2}) {
    List<TestType> list(spread_scores<TestType>(name, n), every);
    list.steepness = steepness;
    CAPTURE(every);
    check_near(list);
  }
}

TEMPLATE_TEST_CASE("near_ranks and near_vjp decline short lists, close scores and NaN", "", float, double) {
  std::vector<TestType> found;
  const auto taken = [&](std::vector<TestType> scores) {
    List<TestType> list(std::move(scores), 2);
    return cpu::near_ranks(list.ranks(list.relevant(), list.all(), found), 0) || cpu::near_vjp(list.vjp(found), 0);
  };
  const auto spread = [](int64_t n) { return spread_scores<TestType>("spread", n); };
  REQUIRE_FALSE(taken({}));
  REQUIRE_FALSE(taken(spread(1)));
  REQUIRE_FALSE(taken(spread(8)));
  REQUIRE(taken(spread(100)));
  REQUIRE_FALSE(taken(List<TestType>::make("normal", 100)));
  auto crowd = List<TestType>::make("normal", 300);
  crowd[7] = TestType(1e6);
  REQUIRE_FALSE(taken(crowd));
  auto nan = spread(100);
  nan[50] = std::numeric_limits<TestType>::quiet_NaN();
  REQUIRE_FALSE(taken(nan));
}

TEMPLATE_TEST_CASE("smooth ranks and derivatives by near pairs have the same bits for every number of threads", "",
                   float, double) {
  List<TestType> list(spread_scores<TestType>("spread", 3000), 3);
  const int before = cpu::threads();
  std::vector<TestType> ranks[2], derivatives[2];
  for (const int threads : {1, 2}) {
    cpu::set_threads(threads);
    const auto& table = cpu_table<SmoothKernels<TestType>>();
    table.smooth_rank(1, list.ranks(list.relevant(), list.all(), ranks[threads - 1]));
    table.smooth_rank_vjp(1, list.vjp(derivatives[threads - 1]));
  }
  cpu::set_threads(before);
  REQUIRE(ranks[0] == ranks[1]);
  REQUIRE(derivatives[0] == derivatives[1]);
}
