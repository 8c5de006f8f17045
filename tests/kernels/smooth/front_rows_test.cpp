// Tests of smooth RR and its logarithm on the CPU, which only visits the rows in front (with the highest scores). They
// are compared with plain implementations in double, which visit all pairs. Checks the terms that are kept, the
// derivative, and that the dropped terms stay within the stated bounds.
#include "kernels/smooth/front_rows.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/core/threads.h"
#include "kernels/smooth/rows.h"
#include "kernels/tensor/normal.h"
#include "tests/support/spans.h"

using namespace mr;
using mr::test::slots;
using mr::test::view;

namespace {

double score_of(const std::string& shape, int64_t i) {
  const double infinity = std::numeric_limits<double>::infinity(), x = normal(random_key(3, "scores"), uint64_t(i));
  if (shape == "equal") return 0.25;
  if (shape == "near") return 1e-3 * x;
  if (shape == "ties") return std::floor(2 * x);
  if (shape == "wide") return 30 * x;
  if (shape == "spread") return 3000 * x;
  if (shape == "clusters") return 500 * static_cast<double>(i % 4) + x;
  if (shape == "infinite") return i % 5 == 0 ? infinity : i % 7 == 3 ? -infinity : x;
  if (shape == "huge") return i % 9 == 4 ? 3e38 : i % 9 == 5 ? -3e38 : x;
  return x;
}

/// Test input: lists of n, 0, 1 and n + 1 rows; every `every`-th row is relevant (0: none). Scores and ranks are
/// rounded to float, so that they are equal in float and in double.
template <class Real>
struct Case {
  std::vector<Real> scores, rank;
  std::vector<int64_t> offsets, target_offsets{0};
  std::vector<int32_t> targets;
  Real steepness;

  Case(const std::string& shape, int64_t n, int64_t every, double by)
      : offsets{0, n, n, n + 1, 2 * n + 2}, steepness(by) {
    for (int64_t i = 0; i < offsets.back(); ++i) scores.push_back(static_cast<float>(score_of(shape, i)));
    for (int64_t list = 0; list < count(); ++list) {
      for (int64_t i = every / 2; every > 0 && i < offsets[list + 1] - offsets[list]; i += every) {
        targets.push_back(static_cast<int32_t>(i));
      }
      target_offsets.push_back(static_cast<int64_t>(targets.size()));
    }
    const std::vector<double> wide(scores.begin(), scores.end());
    std::vector<double> ranks(targets.size());
    const SmoothRank<double> of{view(wide), lists(), chosen(), {lists(), nullptr}, by, slots(ranks)};
    for (int64_t list = 0; list < count(); ++list) of(SerialGroup{}, list);
    for (const double r : ranks) rank.push_back(static_cast<float>(r));
  }
  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }
  Ragged lists() const { return {offsets.data(), count()}; }
  Chosen chosen() const { return {{target_offsets.data(), count()}, targets.data()}; }

  SmoothRrTerms<Real> terms(std::vector<Real>& out) const {
    return {view(scores), lists(), chosen(), steepness, view(rank), slots(out)};
  }
  SmoothRrProductVjp<Real> vjp(const std::vector<Real>& of, std::vector<Real>& out) const {
    return {view(scores), lists(), chosen(), steepness, view(of), {}, slots(out)};
  }
  /// The kernel of the derivative of smooth ranks with respect to scores, for upstream derivatives `g` of the ranks.
  SmoothRankVjp<Real> rank_vjp(const std::vector<Real>& g, std::vector<Real>& out) const {
    return {view(scores), lists(), chosen(), steepness, view(g), {}, slots(out)};
  }
  SmoothLogRr<Real> logs(std::vector<double>& log, std::vector<Real>& shares, std::vector<Real>& value) const {
    return {view(scores), lists(), chosen(), steepness, view(rank), slots(log), slots(shares), slots(value)};
  }
};

using Plain = Case<double>;

/// Runs the plain form of a kernel for every list.
template <class Work>
void plainly(const Plain& c, const Work& work) {
  for (int64_t list = 0; list < c.count(); ++list) work(SerialGroup{}, list);
}

/// Returns the list's largest term of smooth RR times the sigmoid of the difference of its two highest relevant scores.
/// The bound on dropped terms is stated as a share of this product.
double least_part(const Plain& c, int64_t list, const std::vector<double>& terms) {
  double first = -HUGE_VAL, second = -HUGE_VAL, largest = 0;
  for (int64_t i = c.target_offsets[list]; i < c.target_offsets[list + 1]; ++i) {
    const double x = (c.steepness < 0 ? -1 : 1) * c.scores[c.offsets[list] + c.targets[i]];
    second = x > first ? first : std::max(second, x);
    first = std::max(first, x);
    largest = std::max(largest, terms[i]);
  }
  return largest * sigmoid(std::fabs(c.steepness) * score_difference(second, first, 1.0));
}

/// Returns the derivative of smooth RR with respect to all scores by the plain form, for an upstream derivative of 1.
std::vector<double> plain_derivative(const Plain& c, const std::vector<double>& terms) {
  std::vector<double> out(c.scores.size()), g(terms.size());
  for (size_t i = 0; i < g.size(); ++i) g[i] = -terms[i] / c.rank[i];
  plainly(c, c.rank_vjp(g, out));
  plainly(c, c.vjp(terms, out));
  return out;
}

constexpr double share_of(size_t size) { return size == 4 ? 0x1p-32 : 0x1p-60; }
constexpr double rounding_of(size_t size) { return size == 4 ? 0x1p-22 : 1e-12; }

const std::vector<std::string> shapes{"normal", "equal",    "near",     "ties", "wide",
                                      "spread", "clusters", "infinite", "huge"};

}  // namespace

TEMPLATE_TEST_CASE("smooth RR and its derivative agree with the plain form within the stated bounds", "", float,
                   double) {
  constexpr double rounding = rounding_of(sizeof(TestType)), share = share_of(sizeof(TestType));
  const int64_t n = GENERATE(0, 1, 2, 31, 32, 33, 127, 128, 129, 1000), every = GENERATE(0, 1, 3);
  const double steepness = GENERATE(1.0, -0.75);
  for (const std::string& shape : shapes) {
    CAPTURE(shape, n, every, steepness);
    const Case<TestType> c(shape, n, every, steepness);
    const Plain plain(shape, n, every, steepness);
    std::vector<TestType> terms(c.targets.size(), TestType(7)), found(c.scores.size());
    std::vector<double> expected(terms.size()), dropped(terms.size());
    cpu_table<SmoothKernels<TestType>>().smooth_rr_terms(c.count(), c.terms(terms));
    plainly(plain, plain.terms(expected));
    for (size_t i = 0; i < terms.size(); ++i) {
      dropped[i] = terms[i] == 0 ? expected[i] : 0;
      if (terms[i] == 0 || expected[i] < 2 * std::numeric_limits<TestType>::min()) continue;
      REQUIRE(std::fabs(terms[i] - expected[i]) <= rounding * expected[i]);
    }
    const std::vector<double> lost = plain_derivative(plain, dropped);
    cpu_table<SmoothKernels<TestType>>().smooth_rr_product_vjp(c.count(), c.vjp(terms, found));
    std::vector<double> by_products(c.scores.size());
    plainly(plain, plain.vjp(expected, by_products));
    for (int64_t list = 0; list < c.count(); ++list) {
      const int64_t at = c.target_offsets[list], p = c.target_offsets[list + 1] - at;
      double total = 0, total_dropped = 0;
      for (int64_t i = at; i < at + p; ++i) {
        total += expected[i];
        total_dropped += dropped[i];
      }
      // Tolerance for terms that may be 0 in the fast form: terms below the smallest normal number, and rows more than
      // 350 below the highest score, which count as infinitely far below.
      const double least = static_cast<double>(p) * (std::numeric_limits<TestType>::min() + std::exp(-350.0));
      const double part = p > 1 ? least_part(plain, list, expected) : 0;
      REQUIRE(total_dropped <= share * part + least);
      for (int64_t i = c.offsets[list]; i < c.offsets[list + 1]; ++i) {
        REQUIRE(std::fabs(lost[i]) <= 3 * std::fabs(steepness) * share * part + least);
        REQUIRE(std::fabs(found[i] - by_products[i]) <= rounding * static_cast<double>(p + 1) * total + least);
      }
    }
  }
}

TEMPLATE_TEST_CASE("smooth log RR agrees with the plain form", "", float, double) {
  constexpr double rounding = rounding_of(sizeof(TestType));
  const int64_t n = GENERATE(0, 1, 2, 31, 32, 33, 127, 128, 129, 1000), every = GENERATE(0, 1, 3);
  for (const std::string& shape : shapes) {
    CAPTURE(shape, n, every);
    const Case<TestType> c(shape, n, every, 1);
    const Plain plain(shape, n, every, 1);
    std::vector<TestType> shares(c.targets.size(), TestType(7)), value(4, TestType(7));
    std::vector<double> logs(shares.size()), expected(shares.size()), expected_value(4);
    cpu_table<SmoothKernels<TestType>>().smooth_log_rr(c.count(), c.logs(logs, shares, value));
    plainly(plain, plain.logs(logs, expected, expected_value));
    for (size_t i = 0; i < shares.size(); ++i) REQUIRE(std::fabs(shares[i] - expected[i]) <= rounding);
    for (size_t i = 0; i < 4; ++i) {
      REQUIRE(std::fabs(value[i] - expected_value[i]) <= rounding * (1 + std::fabs(expected_value[i])));
    }
  }
}

TEST_CASE("smooth RR and its derivative are NaN if a relevant score is NaN") {
  Case<double> c("normal", 33, 3, 1);
  c.scores[c.targets[4]] = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> terms(c.targets.size()), out(c.scores.size());
  const auto& table = cpu_table<SmoothKernels<double>>();
  table.smooth_rr_terms(c.count(), c.terms(terms));
  for (int64_t i = 0; i < c.target_offsets[1]; ++i) REQUIRE(std::isnan(terms[i]));
  table.smooth_rr_product_vjp(c.count(), c.vjp(terms, out));
  REQUIRE(std::isnan(out[c.targets[0]]));
  REQUIRE_FALSE(std::isnan(out.back()));
}

TEMPLATE_TEST_CASE("smooth RR and its derivative have the same bits for every number of threads", "", float, double) {
  const Case<TestType> c("normal", 20000, 2, 1);
  const auto& table = cpu_table<SmoothKernels<TestType>>();
  const int before = cpu::threads();
  std::vector<TestType> terms[2], derivatives[2];
  for (const int threads : {1, 2}) {
    cpu::set_threads(threads);
    terms[threads - 1].resize(c.targets.size());
    derivatives[threads - 1].resize(c.scores.size());
    table.smooth_rr_terms(c.count(), c.terms(terms[threads - 1]));
    table.smooth_rr_product_vjp(c.count(), c.vjp(terms[threads - 1], derivatives[threads - 1]));
  }
  cpu::set_threads(before);
  REQUIRE(terms[0] == terms[1]);
  REQUIRE(derivatives[0] == derivatives[1]);
}
