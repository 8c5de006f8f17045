// Compares smooth ranks and derivatives by the box method, which treats rows with near scores together, with sums over
// all pairs in long double, for every instruction set of this processor.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/threads.h"
#include "kernels/smooth/boxes/box_ranks.h"
#include "kernels/smooth/rows.h"
#include "tests/support/simd_forms.h"
#include "tests/support/smooth_list.h"

using namespace mr;
using namespace mr::test;

namespace {

template <class Real>
auto all_box_loops() {
  return simd_forms<cpu::BoxLoops<Real>>();
}

/// Checks the box method on one list: smooth ranks of relevant rows, ranks among the relevant rows, ranks of all rows,
/// and derivatives.
template <class Real>
void check_list(List<Real>& list) {
  const Oracle<Real> oracle{list};
  for (const auto& [name, loops] : all_box_loops<Real>()) {
    CAPTURE(name);
    std::vector<Real> found, among;
    const auto work = list.ranks(list.relevant(), list.all(), found, &among);
    if (cpu::box_fits(work, 0)) {
      cpu::box_ranks(work, 0, loops);
      check_ranks(oracle, list.relevant(), list.all(), found);
      check_ranks(oracle, list.relevant(), list.relevant(), among);
      cpu::box_ranks(list.ranks(list.relevant(), list.relevant(), found), 0, loops);
      check_ranks(oracle, list.relevant(), list.relevant(), found);
      cpu::box_ranks(list.ranks(list.all(), list.relevant(), found), 0, loops);
      check_ranks(oracle, list.all(), list.relevant(), found);
    } else {
      REQUIRE(list.marked.empty());
    }
    cpu::box_ranks(list.ranks(list.all(), list.all(), found), 0, loops);
    check_ranks(oracle, list.all(), list.all(), found);
    for (const bool with_h : {false, true}) {
      if (list.marked.empty()) continue;
      cpu::box_vjp(list.vjp(found, with_h), 0, loops);
      check_derivatives(oracle, with_h, found);
    }
  }
}

}  // namespace

TEMPLATE_TEST_CASE("smooth ranks and derivatives by boxes agree with sums over all pairs", "", float, double) {
  const std::string shape = score_shapes[GENERATE(range(0, 6))];
  const int64_t n = GENERATE(1, 2, 3, 17, 64, 129, 1000, 5000);
  CAPTURE(shape, n);
  List<TestType> list(shape, n);
  check_list(list);
}

TEMPLATE_TEST_CASE("smooth ranks by boxes handle any steepness, ties, shifts, outliers and infinite scores", "", float,
                   double) {
  using Scores = std::vector<TestType>;
  const TestType infinity = std::numeric_limits<TestType>::infinity(), huge = std::numeric_limits<TestType>::max();
  const std::string name = GENERATE("duplicates", "outlier", "low outlier", "both", "infinite", "all infinite", "huge",
                                    "shifted", "steepness", "small steepness", "edges");
  Scores s = List<TestType>::make("normal", 400);
  TestType steepness = 1;
  if (name == "duplicates") {
    for (size_t i = 0; i < s.size(); ++i) s[i] = static_cast<TestType>(i % 7);
  }
  if (name == "outlier" || name == "both") s[10] = TestType(1e6);
  if (name == "low outlier" || name == "both") s[22] = TestType(-1e6);
  if (name == "infinite") {
    for (size_t i = 0; i < s.size(); i += 3) s[i] = i % 2 == 0 ? infinity : -infinity;
  }
  if (name == "all infinite") s.assign(40, infinity);
  if (name == "huge") {
    s[7] = s[11] = huge;
    s[12] = huge / 2;
    s[19] = -huge;
    s[31] = -infinity;
    s[43] = TestType(-1e30);
  }
  if (name == "shifted") {
    for (TestType& x : s) x += 1e4;
    steepness = TestType(0.3);
  }
  if (name == "steepness") steepness = TestType(17.3);
  if (name == "small steepness") steepness = TestType(0.01);
  if (name == "edges") {
    for (size_t i = 0; i < s.size(); ++i) s[i] = static_cast<TestType>(0.25 * double(i) - 40);
  }
  CAPTURE(name);
  for (const int64_t every : {1, 2, 3, 50}) {
    List<TestType> list(s, every);
    list.steepness = steepness;
    CAPTURE(every);
    check_list(list);
  }
}

TEMPLATE_TEST_CASE("smooth ranks by boxes are accurate for groups of equal scores at any distance", "", float, double) {
  // many rows have equal scores and make up most of a rank, so that the truncation error of their box is not averaged
  // out
  for (int distance = 0; distance < 70; ++distance) {
    std::vector<TestType> s(1000, TestType(distance)), found;
    for (size_t i = 0; i < s.size(); i += 100) s[i] = TestType(0.001) * static_cast<TestType>(i % 700);
    List<TestType> list(s, 1);
    CAPTURE(distance);
    // steepness 1: the few other rows are below the group of equal scores; -1: above it
    for (const TestType steepness : {TestType(1), TestType(-1)}) {
      list.steepness = steepness;
      for (const auto& [name, loops] : all_box_loops<TestType>()) {
        CAPTURE(name, steepness);
        cpu::box_ranks(list.ranks(list.all(), list.all(), found), 0, loops);
        check_ranks(Oracle<TestType>{list}, list.all(), list.all(), found);
      }
    }
  }
}

TEMPLATE_TEST_CASE("smooth ranks fall back to pairs if boxes cannot place the scores", "", float, double) {
  std::vector<TestType> s = List<TestType>::make("normal", 2000), found;
  s[5] = TestType(1e15);
  s[6] = TestType(1e15) * TestType(1.001);
  List<TestType> list(s);
  REQUIRE_FALSE(cpu::box_fits(list.vjp(found), 0));
  REQUIRE_FALSE(cpu::prefer_boxes(list.vjp(found), 0));
  const auto work = list.ranks(list.relevant(), list.all(), found);
  REQUIRE_FALSE(cpu::prefer_boxes(work, 0));
  cpu_table<SmoothKernels<TestType>>().smooth_rank(1, work);
  check_ranks(Oracle<TestType>{list}, list.relevant(), list.all(), found);
}

TEMPLATE_TEST_CASE("smooth ranks and derivatives by boxes have the same bits for every number of threads", "", float,
                   double) {
  const std::string shape = score_shapes[GENERATE(range(0, 6))];
  CAPTURE(shape);
  List<TestType> list(shape, 70001);
  const int before = cpu::threads();
  std::vector<TestType> ranks[2], among[2], derivatives[2];
  for (const int threads : {1, 2}) {
    cpu::set_threads(threads);
    const auto& table = cpu_table<SmoothKernels<TestType>>();
    const auto work = list.ranks(list.relevant(), list.all(), ranks[threads - 1], &among[threads - 1]);
    REQUIRE(cpu::prefer_boxes(work, 0));
    table.smooth_rank(1, work);
    table.smooth_rank_vjp(1, list.vjp(derivatives[threads - 1]));
  }
  cpu::set_threads(before);
  REQUIRE(ranks[0] == ranks[1]);
  REQUIRE(among[0] == among[1]);
  REQUIRE(derivatives[0] == derivatives[1]);
  const Oracle<TestType> oracle{list};
  for (const int64_t slot : {0, 5000, 23000}) {
    const auto expected = static_cast<double>(oracle.rank(list.marked[slot], list.all()));
    REQUIRE(std::fabs(ranks[0][slot] - expected) <= tolerance<TestType> * expected);
  }
}

TEST_CASE("prefer_boxes chooses boxes for long lists with many relevant rows") {
  std::vector<float> found;
  for (const auto& [n, boxes] : {std::pair<int64_t, bool>{32, false}, {4000, true}}) {
    List<float> list("normal", n);
    REQUIRE(cpu::prefer_boxes(list.ranks(list.relevant(), list.all(), found), 0) == boxes);
    REQUIRE(cpu::prefer_boxes(list.vjp(found), 0) == boxes);
  }
  // only two rows need a rank, so pairs are few and the box method does not pay off
  List<float> few(List<float>::make("normal", 4000), 3999);
  REQUIRE_FALSE(cpu::prefer_boxes(few.ranks(few.relevant(), few.all(), found), 0));
}
