// Smooth ranks and derivatives by boxes, with the loops of every instruction set that this processor has, against sums
// over all pairs in long double.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/core/threads.h"
#include "kernels/smooth/box_ranks.h"
#include "kernels/smooth/rows.h"
#include "kernels/tensor/normal.h"
#include "tests/support/simd_forms.h"

using namespace mr;

namespace {

template <class Real>
auto all_loops() {
  return simd_forms<cpu::BoxLoops<Real>>();
}

const char* const shapes[] = {"equal", "normal", "wide", "cauchy", "spread", "clusters"};

double score(const std::string& shape, int64_t i, int64_t n) {
  const RandomKey key = random_key(static_cast<uint64_t>(n), shape.c_str());
  const auto at = static_cast<uint64_t>(i);
  const double u = uniform(key, at) - 0.5;
  if (shape == "equal") return 3 + 0.02 * u;
  if (shape == "normal") return normal(key, at);
  if (shape == "wide") return 10 * normal(key, at);
  if (shape == "cauchy") return std::clamp(std::tan(std::numbers::pi * u), -1e4, 1e4);
  if (shape == "spread") return 1e4 * u;
  return 20 * static_cast<double>(i % 8) + normal(key, at);
}

/// One list in which the rows of `marked` (null: all) are relevant.
template <class Real>
struct List {
  std::vector<Real> scores, g, h;
  std::vector<int64_t> offsets, marked_offsets;
  std::vector<int32_t> marked;
  Real gain = 1;

  explicit List(std::vector<Real> s, int64_t every = 3) : scores(std::move(s)) {
    offsets = {0, static_cast<int64_t>(scores.size())};
    for (int64_t i = every / 2; i < offsets[1]; i += every) marked.push_back(static_cast<int32_t>(i));
    marked_offsets = {0, static_cast<int64_t>(marked.size())};
    for (size_t i = 0; i < marked.size(); ++i) {
      g.push_back(static_cast<Real>(normal(random_key(1, "g"), i)));
      h.push_back(static_cast<Real>(normal(random_key(2, "h"), i)));
    }
  }
  List(const std::string& shape, int64_t n) : List(make(shape, n)) {}

  static std::vector<Real> make(const std::string& shape, int64_t n) {
    std::vector<Real> s;
    for (int64_t i = 0; i < n; ++i) s.push_back(static_cast<Real>(score(shape, i, n)));
    return s;
  }

  template <class T>
  static Span<T> span(const std::vector<Real>& v) {
    return {const_cast<T*>(v.data()), static_cast<int64_t>(v.size())};
  }
  Chosen relevant() const { return {{marked_offsets.data(), 1}, marked.data()}; }
  Chosen all() const { return {{offsets.data(), 1}, nullptr}; }
  SmoothRank<Real> ranks(Chosen targets, Chosen sources, std::vector<Real>& to, std::vector<Real>* among = nullptr) {
    to.assign(static_cast<size_t>(targets.size(0)), Real(-1));
    if (among) among->assign(to.size(), Real(-1));
    return {span<const Real>(scores),
            {offsets.data(), 1},
            targets,
            sources,
            gain,
            span<Real>(to),
            among ? span<Real>(*among) : Span<Real>{}};
  }
  SmoothRankVjp<Real> vjp(std::vector<Real>& to, bool with_h = true) {
    to.assign(scores.size(), Real(-1));
    return {span<const Real>(scores),
            {offsets.data(), 1},
            relevant(),
            gain,
            span<const Real>(g),
            with_h ? span<const Real>(h) : Span<const Real>{},
            span<Real>(to)};
  }
};

/// The plain sums in long double.
template <class Real>
struct Oracle {
  const List<Real>& list;

  long double apart(int64_t j, int64_t i) const {
    const long double a = list.scores[j], b = list.scores[i];
    return a == b ? 0 : list.gain * (a - b);
  }
  static long double kernel(long double t) {
    const long double e = std::exp(-std::fabs(t));
    return e / ((1 + e) * (1 + e));
  }
  long double rank(int64_t i, const Chosen& sources) const {
    long double total = 1;
    for (int64_t k = 0; k < sources.size(0); ++k) {
      const int64_t j = sources(0, k);
      if (j != i) total += 1 / (1 + std::exp(-apart(j, i)));
    }
    return total;
  }
  long double derivative(int64_t k, bool with_h) const {
    const auto p = static_cast<int64_t>(list.marked.size());
    long double total = 0;
    for (int64_t i = 0; i < p; ++i) total += list.g[i] * kernel(apart(k, list.marked[i]));
    const auto own = std::lower_bound(list.marked.begin(), list.marked.end(), k) - list.marked.begin();
    if (own < p && list.marked[own] == k) {
      for (int64_t j = 0; j < list.offsets[1]; ++j) total -= list.g[own] * kernel(apart(j, k));
      for (int64_t i = 0; with_h && i < p; ++i) {
        total += (static_cast<long double>(list.h[i]) - list.h[own]) * kernel(apart(list.marked[i], k));
      }
    }
    return list.gain * total;
  }
};

template <class Real>
constexpr double tolerance = sizeof(Real) == 4 ? 1e-6 : 1e-12;

/// About 60 of n, the first and the last among them.
std::vector<int64_t> sample(int64_t n) {
  std::vector<int64_t> out;
  for (int64_t i = 0; i < n; i += std::max<int64_t>(1, n / 60)) out.push_back(i);
  if (n > 0) out.push_back(n - 1);
  return out;
}

template <class Real>
void check_ranks(const Oracle<Real>& oracle, const Chosen& targets, const Chosen& sources,
                 const std::vector<Real>& found) {
  for (const int64_t slot : sample(targets.size(0))) {
    const auto expected = static_cast<double>(oracle.rank(targets(0, slot), sources));
    CAPTURE(slot);
    REQUIRE(std::fabs(found[slot] - expected) <= tolerance<Real> * expected);
  }
}

template <class Real>
void check_derivatives(const Oracle<Real>& oracle, bool with_h, const std::vector<Real>& found) {
  double scale = 1;  // what cancels within an entry: g k(0) and the like
  for (const Real x : found) scale = std::max(scale, std::fabs(static_cast<double>(x)));
  REQUIRE(std::isfinite(scale));
  for (const int64_t row : sample(static_cast<int64_t>(found.size()))) {
    CAPTURE(row, scale);
    const auto expected = static_cast<double>(oracle.derivative(row, with_h));
    REQUIRE(std::fabs(found[row] - expected) <= tolerance<Real> * scale);
  }
}

/// Ranks, ranks among the relevant, ranks of all and derivatives of one list.
template <class Real>
void check_list(List<Real>& list) {
  const Oracle<Real> oracle{list};
  for (const auto& [name, loops] : all_loops<Real>()) {
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

TEMPLATE_TEST_CASE("boxes give the sums over all pairs", "", float, double) {
  const std::string shape = shapes[GENERATE(range(0, 6))];
  const int64_t n = GENERATE(1, 2, 3, 17, 64, 129, 1000, 5000);
  CAPTURE(shape, n);
  List<TestType> list(shape, n);
  check_list(list);
}

TEMPLATE_TEST_CASE("boxes stand gains, ties, shifts, and scores far from the others", "", float, double) {
  using Scores = std::vector<TestType>;
  const TestType infinity = std::numeric_limits<TestType>::infinity(), huge = std::numeric_limits<TestType>::max();
  const std::string name = GENERATE("duplicates", "outlier", "low outlier", "both", "infinite", "all infinite", "huge",
                                    "shifted", "gain", "small gain", "edges");
  Scores s = List<TestType>::make("normal", 400);
  TestType gain = 1;
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
    gain = TestType(0.3);
  }
  if (name == "gain") gain = TestType(17.3);
  if (name == "small gain") gain = TestType(0.01);
  if (name == "edges") {
    for (size_t i = 0; i < s.size(); ++i) s[i] = static_cast<TestType>(0.25 * double(i) - 40);
  }
  CAPTURE(name);
  for (const int64_t every : {1, 2, 3, 50}) {
    List<TestType> list(s, every);
    list.gain = gain;
    CAPTURE(every);
    check_list(list);
  }
}

TEMPLATE_TEST_CASE("crowds may be any distance apart", "", float, double) {
  // most of a rank comes from many rows with equal scores: errors of truncation show
  for (int distance = 0; distance < 70; ++distance) {
    std::vector<TestType> s(1000, TestType(distance)), found;
    for (size_t i = 0; i < s.size(); i += 100) s[i] = TestType(0.001) * static_cast<TestType>(i % 700);
    List<TestType> list(s, 1);
    CAPTURE(distance);
    for (const TestType gain : {TestType(1), TestType(-1)}) {  // the few below those rows, and above them
      list.gain = gain;
      for (const auto& [name, loops] : all_loops<TestType>()) {
        CAPTURE(name, gain);
        cpu::box_ranks(list.ranks(list.all(), list.all(), found), 0, loops);
        check_ranks(Oracle<TestType>{list}, list.all(), list.all(), found);
      }
    }
  }
}

TEMPLATE_TEST_CASE("scores that boxes cannot place are left to the pairs", "", float, double) {
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

TEMPLATE_TEST_CASE("sums by boxes are the same bits for any number of threads", "", float, double) {
  const std::string shape = shapes[GENERATE(range(0, 6))];
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

TEST_CASE("boxes are taken where they are cheaper") {
  std::vector<float> found;
  for (const auto& [n, boxes] : {std::pair<int64_t, bool>{32, false}, {4000, true}}) {
    List<float> list("normal", n);
    REQUIRE(cpu::prefer_boxes(list.ranks(list.relevant(), list.all(), found), 0) == boxes);
    REQUIRE(cpu::prefer_boxes(list.vjp(found), 0) == boxes);
  }
  List<float> few(List<float>::make("normal", 4000), 3999);  // with two targets, pairs are few
  REQUIRE_FALSE(cpu::prefer_boxes(few.ranks(few.relevant(), few.all(), found), 0));
}
