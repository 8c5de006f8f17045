// Compares the CPU's fast smooth ranks with a plain implementation in double, for lists of many sizes and several
// distributions of scores. Tests both the method that the kernel table chooses and sums over pairs. The box method
// alone is tested in box_test.cpp.
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/smooth/rows.h"
#include "kernels/smooth/smooth_pairs.h"
#include "kernels/tensor/normal.h"

using namespace mr;

namespace {

const char* const shapes[] = {"equal", "narrow", "wide", "cauchy", "clusters", "hundreds", "thousand", "infinite"};

double score(const std::string& shape, int64_t i, int64_t n) {
  const RandomKey key = random_key(static_cast<uint64_t>(n), shape.c_str());
  if (shape == "equal") return 0.25;
  if (shape == "narrow") return normal(key, static_cast<uint64_t>(i));
  if (shape == "wide") return 10 * normal(key, static_cast<uint64_t>(i));
  if (shape == "cauchy") return std::tan(3.14159 * (uniform(key, static_cast<uint64_t>(i)) - 0.5));
  if (shape == "clusters") return 20 * static_cast<double>(i % 3) + 0.1 * uniform(key, static_cast<uint64_t>(i));
  if (shape == "hundreds") return 600 * uniform(key, static_cast<uint64_t>(i));
  if (shape == "thousand") return i % 2 == 0 ? 1000 : -1000;
  const double infinity = std::numeric_limits<double>::infinity();
  return i % 5 == 0 ? infinity : i % 5 == 1 ? -infinity : static_cast<double>(i % 7);
}

/// Test input: a list of n rows, an empty list, and a list of n rows. Every third row is relevant.
template <class Real>
struct Case {
  std::vector<Real> scores;
  std::vector<int64_t> offsets, target_offsets;
  std::vector<int32_t> targets;

  Case(const std::string& shape, int64_t n) : offsets{0, n, n, 2 * n}, target_offsets{0} {
    for (int list = 0; list < 3; ++list) {
      for (int64_t i = 0; i < offsets[list + 1] - offsets[list]; ++i) {
        scores.push_back(static_cast<Real>(score(shape, i + list, n)));
        if (i % 3 == 0) targets.push_back(static_cast<int32_t>(i));
      }
      target_offsets.push_back(static_cast<int64_t>(targets.size()));
    }
  }

  Ragged lists() const { return {offsets.data(), 3}; }
  Chosen chosen() const { return {{target_offsets.data(), 3}, targets.data()}; }
  Chosen all() const { return {lists(), nullptr}; }
  Span<const Real> span() const { return {scores.data(), static_cast<int64_t>(scores.size())}; }
};

template <class Real>
Span<Real> span(std::vector<Real>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

/// Returns a test input in double whose scores are exactly those of `from`, so that the float and the double form see
/// the same numbers.
template <class Real>
Case<double> as_double(const std::string& shape, int64_t n, const Case<Real>& from) {
  Case<double> out(shape, n);
  out.scores.assign(from.scores.begin(), from.scores.end());
  return out;
}

template <class Real>
void compare(const std::vector<Real>& found, const std::vector<double>& expected, double tolerance) {
  // the tolerance is relative to this: entries are sums of terms that may cancel, so they can be smaller than their
  // terms
  double scale = 1;
  for (const double x : expected) scale = std::max(scale, std::fabs(x));
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("entry " << i);
    REQUIRE(std::fabs(found[i] - expected[i]) <= tolerance * scale);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("smooth ranks and derivatives on the CPU agree with the plain form", "", float, double) {
  const double tolerance = sizeof(TestType) == 4 ? 2e-6 : 1e-12;
  const int64_t n = GENERATE(0, 1, 2, 31, 32, 33, 127, 128, 129, 1000);
  const std::string shape = shapes[GENERATE(range(0, 7))];
  CAPTURE(n, shape);
  const Case<TestType> fast(shape, n);
  const Case<double> plain = as_double(shape, n, fast);
  const size_t p = fast.targets.size(), rows = fast.scores.size();

  using Ranks = void (*)(int64_t, const SmoothRank<TestType>&);
  using Vjp = void (*)(int64_t, const SmoothRankVjp<TestType>&);
  const auto& table = cpu_table<SmoothKernels<TestType>>();
  for (const Ranks ranks : {Ranks(table.smooth_rank), Ranks(&cpu::ranks_by_pairs<TestType>)}) {
    for (const bool among : {false, true}) {
      std::vector<TestType> found(p), found_among(p);
      std::vector<double> expected(p), expected_among(p);
      const Chosen sources = among ? fast.chosen() : fast.all();
      const auto second = [&](auto& v) { return among ? std::remove_cvref_t<decltype(span(v))>{} : span(v); };
      ranks(3, {fast.span(), fast.lists(), fast.chosen(), sources, 1, span(found), second(found_among)});
      const SmoothRank<double> oracle{
          plain.span(),   plain.lists(),         plain.chosen(), among ? plain.chosen() : plain.all(), 1,
          span(expected), second(expected_among)};
      for (int64_t list = 0; list < 3; ++list) oracle(SerialGroup{}, list);
      for (size_t i = 0; i < p; ++i) REQUIRE(found[i] == Approx(expected[i]).epsilon(tolerance).margin(0));
      for (size_t i = 0; i < p; ++i) REQUIRE(found_among[i] == Approx(expected_among[i]).epsilon(tolerance).margin(0));
    }
  }

  std::vector<TestType> g(p), h(p), found(rows);
  std::vector<double> g64(p), h64(p), expected(rows);
  for (size_t i = 0; i < p; ++i) {
    g64[i] = g[i] = static_cast<TestType>(normal(random_key(1, "g"), i));
    h64[i] = h[i] = static_cast<TestType>(normal(random_key(2, "h"), i));
  }
  const SmoothRankVjp<double> oracle{plain.span(),
                                     plain.lists(),
                                     plain.chosen(),
                                     1,
                                     {g64.data(), static_cast<int64_t>(p)},
                                     {h64.data(), static_cast<int64_t>(p)},
                                     span(expected)};
  for (int64_t list = 0; list < 3; ++list) oracle(SerialGroup{}, list);
  for (const Vjp vjp : {Vjp(table.smooth_rank_vjp), Vjp(&cpu::vjp_by_pairs<TestType>)}) {
    vjp(3, {fast.span(),
            fast.lists(),
            fast.chosen(),
            1,
            {g.data(), static_cast<int64_t>(p)},
            {h.data(), static_cast<int64_t>(p)},
            span(found)});
    // derivatives are sums of terms of both signs: compared relative to the largest entry
    compare(found, expected, tolerance);
  }
}

TEST_CASE("ranks_by_pairs agrees with the plain sum for a list of 20,001 rows") {
  const int64_t n = 20001;
  const Case<double> c("narrow", n);
  std::vector<double> ranks(c.targets.size());
  cpu::ranks_by_pairs<double>(3, {c.span(), c.lists(), c.chosen(), c.all(), 1, span(ranks)});
  for (const size_t slot : {size_t{0}, size_t{700}, c.targets.size() - 1}) {
    const int64_t list = slot < static_cast<size_t>(c.target_offsets[1]) ? 0 : 2;
    const double* const s = c.scores.data() + c.offsets[list];
    double expected = 0.5;
    for (int64_t j = 0; j < n; ++j) expected += 1 / (1 + std::exp(s[c.targets[slot]] - s[j]));
    REQUIRE(ranks[slot] == Approx(expected).epsilon(1e-12));
  }
}

TEST_CASE("vjp_by_pairs agrees with the plain sum for a list of 5,003 rows") {
  const int64_t n = 5003;
  const Case<double> c("narrow", n);
  const int64_t p = c.target_offsets[1];
  std::vector<double> g, h, out(c.scores.size());
  for (size_t i = 0; i < c.targets.size(); ++i) {
    g.push_back(normal(random_key(1, "g"), i));
    h.push_back(normal(random_key(2, "h"), i));
  }
  const auto weights = [](const std::vector<double>& v) {
    return Span<const double>{v.data(), static_cast<int64_t>(v.size())};
  };
  cpu::vjp_by_pairs<double>(3, {c.span(), c.lists(), c.chosen(), 1, weights(g), weights(h), span(out)});
  const auto k = [&](int64_t i, int64_t j) {
    const double sigma = 1 / (1 + std::exp(c.scores[i] - c.scores[j]));
    return sigma * (1 - sigma);
  };
  for (const int64_t row : {int64_t{0}, int64_t{1}, int64_t{2700}, int64_t{4500}, n - 1}) {
    double expected = 0;
    for (int64_t i = 0; i < p; ++i) expected += g[i] * k(row, c.targets[i]);
    if (row % 3 == 0) {
      for (int64_t j = 0; j < n; ++j) expected -= g[row / 3] * k(row, j);
      for (int64_t i = 0; i < p; ++i) expected += (h[i] - h[row / 3]) * k(row, c.targets[i]);
    }
    REQUIRE(out[row] == Approx(expected).epsilon(1e-10).margin(1e-10));
  }
}
