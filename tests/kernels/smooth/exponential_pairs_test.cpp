// Compares the CPU's loops over pairs of rows with sums of exponentials in double, for every instruction set of this
// processor.
#include "kernels/smooth/exponential_pairs.h"

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "tests/support/simd_forms.h"

using namespace mr;

namespace {

template <class Real>
auto all_pair_loops() {
  return simd_forms<cpu::PairLoops<Real>>();
}

/// Returns n scores between -span/2 and span/2, both ends included, rounded to Real.
template <class Real>
std::vector<Real> scores(int64_t n, double span, const char* stream) {
  std::vector<Real> out;
  for (int64_t i = 0; i < n; ++i) {
    const double u = i == 0 ? 0 : i == 1 ? 1 : uniform(random_key(7, stream), static_cast<uint64_t>(i));
    out.push_back(static_cast<Real>(span * (u - 0.5)));
  }
  return out;
}

template <class Real>
std::vector<Real> exponentials(const cpu::PairLoops<Real>& loops, std::vector<Real> x) {
  const size_t n = x.size(), padding = static_cast<size_t>(cpu::pair_padding);
  x.resize((n + padding - 1) / padding * padding, Real(0));
  loops.exponentials(x.data(), static_cast<int64_t>(x.size()), 1, 0);
  std::fill(x.begin() + static_cast<std::ptrdiff_t>(n), x.end(), Real(0));
  return x;
}

double sigma(double t) { return 1 / (1 + std::exp(-t)); }
double kernel(double t) { return std::exp(-std::fabs(t)) / std::pow(1 + std::exp(-std::fabs(t)), 2); }

/// Returns the sum of term(j) over n rows. `size` becomes the sum of the terms' absolute values, against which rounding
/// errors are measured.
double sum_of(size_t n, double& size, const std::function<double(size_t)>& term) {
  double total = 0;
  size = 0;
  for (size_t j = 0; j < n; ++j) {
    total += term(j);
    size += std::fabs(term(j));
  }
  return total;
}

}  // namespace

TEMPLATE_TEST_CASE("PairLoops agree with sums of exponentials with every instruction set", "", float, double) {
  const double tolerance = sizeof(TestType) == 4 ? 2e-6 : 1e-12;
  const size_t n = GENERATE(0, 1, 2, 15, 16, 17, 31, 32, 33, 127, 128, 129, 1000, 2048, 2049, 4100);
  const double span = GENERATE(0.0, 3.0, ratio_span<TestType>);
  const size_t m = 7;
  const auto x = scores<TestType>(static_cast<int64_t>(n), span, "sources");
  const auto y = scores<TestType>(m, span, "targets");
  for (const auto& [name, loops] : all_pair_loops<TestType>()) {
    CAPTURE(name, n, span);
    const auto e = exponentials(loops, x), t = exponentials(loops, y);
    const auto size = static_cast<int64_t>(e.size());
    for (size_t j = 0; j < n; ++j) REQUIRE(e[j] == Approx(std::exp(double(x[j]))).epsilon(tolerance / 10).margin(0));
    std::vector<TestType> w = scores<TestType>(static_cast<int64_t>(n), 2, "w");
    w.resize(e.size(), TestType(0));
    const std::vector<TestType> v = scores<TestType>(m, 2, "v");
    std::vector<double> ranks(m), kernels(m), differences(m), products(m), ratios(m), totals(e.size(), 1.0);
    loops.rank_sums(e.data(), size, t.data(), m, ranks.data());
    loops.kernel_sums(e.data(), size, t.data(), v.data(), m, totals.data(), kernels.data());
    loops.kernel_differences(e.data(), w.data(), size, t.data(), v.data(), m, differences.data());
    loops.products(e.data(), size, t.data(), m, products.data());
    loops.ratio_differences(e.data(), w.data(), size, t.data(), v.data(), m, ratios.data());
    for (size_t i = 0; i < m; ++i) {
      double scale;
      long double product = 1;  // long double, because the expected product may be outside of the range of a double
      const auto apart = [&](size_t j) { return double(x[j]) - y[i]; };
      const double rank = sum_of(n, scale, [&](size_t j) { return sigma(apart(j)); });
      REQUIRE(ranks[i] == Approx(rank).epsilon(tolerance).margin(0));
      const double k = sum_of(n, scale, [&](size_t j) { return kernel(apart(j)); });
      REQUIRE(kernels[i] == Approx(k).epsilon(tolerance).margin(0));
      const double difference = sum_of(n, scale, [&](size_t j) { return (double(w[j]) - v[i]) * kernel(apart(j)); });
      REQUIRE(std::fabs(differences[i] - difference) <= tolerance * scale);
      const double ratio =
          sum_of(n, scale, [&](size_t j) { return v[i] * sigma(apart(j)) - double(w[j]) * sigma(-apart(j)); });
      REQUIRE(std::fabs(ratios[i] - ratio) <= tolerance * 2 * scale);
      for (size_t j = 0; j < n; ++j) product *= sigma(-apart(j));
      const double least = std::numeric_limits<TestType>::min();
      if (product > least) REQUIRE(products[i] == Approx(double(product)).epsilon(5 * tolerance).margin(0));
    }
    for (size_t j = 0; j < n; ++j) {
      double scale;
      const double total = sum_of(m, scale, [&](size_t i) { return v[i] * kernel(double(x[j]) - y[i]); });
      REQUIRE(std::fabs(totals[j] - 1 - total) <= tolerance * scale + 1e-15);
    }
  }
}

TEMPLATE_TEST_CASE("PairLoops find the range of scores with every instruction set", "", float, double) {
  for (const auto& [name, loops] : all_pair_loops<TestType>()) {
    for (int64_t n = 1; n < 70; ++n) {
      for (int64_t at : {int64_t{0}, n / 2, n - 1}) {
        std::vector<TestType> s(static_cast<size_t>(n), TestType(2));
        s[static_cast<size_t>(n / 3)] = -INFINITY;
        s[static_cast<size_t>(at)] = 5;
        TestType low = 0, high = 0;
        loops.range(s.data(), n, &low, &high);
        CAPTURE(name, n, at);
        REQUIRE(low == (at == n / 3 ? (n == 1 ? 5 : 2) : -INFINITY));
        REQUIRE(high == 5);
      }
    }
  }
}
