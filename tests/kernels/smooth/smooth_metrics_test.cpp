// Smooth reciprocal rank: the CPU's fast products against the definition (Li et al. 2021, Eq. 16) in logarithms, and
// their derivative against the plain form; lists longer than a piece, wide and infinite scores.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/smooth/rows.h"
#include "kernels/tensor/normal.h"
#include "tests/support/spans.h"

using namespace mr;
using mr::test::slots;
using mr::test::view;

namespace {

/// Two lists of 2 p rows and of 1 row, every second row relevant.
template <class Real>
struct Case {
  std::vector<Real> scores, rank;
  std::vector<int64_t> offsets, target_offsets;
  std::vector<int32_t> targets;

  Case(int64_t p, double spread, bool infinite) : offsets{0, 2 * p, 2 * p + 1}, target_offsets{0, p, p + 1} {
    for (int64_t i = 0; i <= 2 * p; ++i) {
      scores.push_back(static_cast<Real>(spread * normal(random_key(3, "scores"), static_cast<uint64_t>(i))));
      if (i % 2 == 0) {
        targets.push_back(static_cast<int32_t>(i < 2 * p ? i : 0));
        rank.push_back(static_cast<Real>(1 + i));
      }
    }
    if (infinite) {
      scores[0] = std::numeric_limits<Real>::infinity();
      scores.back() = -std::numeric_limits<Real>::infinity();
    }
  }
  Ragged lists() const { return {offsets.data(), 2}; }
  Chosen chosen() const { return {{target_offsets.data(), 2}, targets.data()}; }

  SmoothRrTerms<Real> terms(std::vector<Real>& out) const {
    return {view(scores), lists(), chosen(), 1, view(rank), slots(out)};
  }
  double log_term(int64_t list, int64_t i) const {
    const int64_t at = target_offsets[list], end = target_offsets[list + 1];
    const auto s = [&](int64_t slot) { return double(scores[offsets[list] + targets[slot]]); };
    double log = -std::log(double(rank[at + i]));
    for (int64_t j = at; j < end; ++j) {
      const double t = s(j) == s(at + i) ? 0 : s(j) - s(at + i);
      if (j != at + i) log -= t > 0 ? t + std::log1p(std::exp(-t)) : std::log1p(std::exp(t));
    }
    return log;
  }
};

}  // namespace

TEMPLATE_TEST_CASE("fast products of smooth RR", "", float, double) {
  const double tolerance = sizeof(TestType) == 4 ? 2e-6 : 1e-11;
  const int64_t p = GENERATE(0, 1, 2, 31, 32, 33, 129, 700);
  const double spread = GENERATE(0.0, 1.0, 30.0, 3000.0);
  const bool infinite = GENERATE(false, true);
  CAPTURE(p, spread, infinite);
  const Case<TestType> c(p, spread, infinite);
  const size_t rows = c.scores.size(), targets = c.targets.size();
  std::vector<TestType> terms(targets), found(rows, TestType(1)), expected(rows, TestType(1));
  cpu_table<SmoothKernels<TestType>>().smooth_rr_terms(2, c.terms(terms));
  for (int64_t list = 0; list < 2; ++list) {
    for (int64_t i = 0; i < c.target_offsets[list + 1] - c.target_offsets[list]; ++i) {
      const double term = std::exp(c.log_term(list, i)), got = terms[c.target_offsets[list] + i];
      REQUIRE(std::fabs(got - term) <= tolerance * term + std::numeric_limits<TestType>::min());
    }
  }
  const std::vector<TestType> upstream{TestType(0.5), TestType(-2)};
  const auto vjp = [&](std::vector<TestType>& out) {
    return SmoothRrProductVjp<TestType>{view(c.scores), c.lists(),      c.chosen(), 1,
                                        view(terms),    view(upstream), slots(out)};
  };
  cpu_table<SmoothKernels<TestType>>().smooth_rr_product_vjp(2, vjp(found));
  for (int64_t list = 0; list < 2; ++list) vjp(expected)(SerialGroup{}, list);
  for (size_t i = 0; i < rows; ++i) REQUIRE(std::fabs(found[i] - expected[i]) <= tolerance);
}
