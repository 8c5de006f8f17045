// Compares smooth ranks with the Laplace kernel, their derivatives and the parts of smooth RR, on the CPU and on the
// GPU, with sums over all pairs in long double. Lists have sizes around those of vectors, warps and blocks.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/device/launch.cuh"
#include "kernels/smooth/rows.h"
#include "kernels/tensor/normal.h"
#include "tests/support/on_device.h"

namespace mr {
namespace {

const char* const shapes[] = {"equal", "normal", "ties", "clusters", "far", "infinite"};

double score(const std::string& shape, int64_t i) {
  const double x = normal(random_key(7, shape.c_str()), static_cast<uint64_t>(i)),
               infinity = std::numeric_limits<double>::infinity();
  if (shape == "equal") return 0.25;
  if (shape == "ties") return std::floor(2 * x);
  if (shape == "clusters") return 20 * static_cast<double>(i % 3) + 0.01 * x;
  if (shape == "far") return 1e9 * x;
  if (shape == "infinite") return i % 5 == 0 ? infinity : i % 5 == 1 ? -infinity : static_cast<double>(i % 7);
  return x;
}

/// Test input: lists whose every third row is relevant; every fourth list has no relevant row.
template <class Real>
struct Batch {
  static constexpr Real steepness = Real(1.25);
  std::vector<Real> scores, g, h, upstream;
  std::vector<int64_t> offsets{0}, marked_offsets{0}, order;
  std::vector<int32_t> marked;

  Batch(const std::string& shape, const std::vector<int64_t>& sizes) {
    for (const int64_t n : sizes) add(shape, n);
  }
  int64_t count() const { return static_cast<int64_t>(offsets.size()) - 1; }

 private:
  void add(const std::string& shape, int64_t n) {
    const int64_t at = offsets.back();
    for (int64_t i = 0; i < n; ++i) {
      scores.push_back(static_cast<Real>(score(shape, at + i)));
      if (i % 3 != 1 || count() % 4 == 3) continue;
      marked.push_back(static_cast<int32_t>(i));
      g.push_back(static_cast<Real>(normal(random_key(1, "g"), static_cast<uint64_t>(at + i))));
      h.push_back(static_cast<Real>(normal(random_key(2, "h"), static_cast<uint64_t>(at + i))));
    }
    upstream.push_back(static_cast<Real>(1 + at % 3));
    order.resize(scores.size());
    std::iota(order.begin() + at, order.end(), at + 1);
    std::stable_sort(order.begin() + at, order.end(), [&](auto a, auto b) { return scores[a - 1] > scores[b - 1]; });
    offsets.push_back(static_cast<int64_t>(scores.size()));
    marked_offsets.push_back(static_cast<int64_t>(marked.size()));
  }
};

/// Results by name. The terms of smooth RR, the values of their logarithms and the derivatives of the products are all
/// computed from the same ranks.
struct Results {
  std::vector<double> ranks, among, row_among, ndcg_slopes, ap_slopes, terms, log_values, shares, product_slopes;
};

template <class Real>
std::vector<double> doubles(const std::vector<Real>& from) {
  return {from.begin(), from.end()};
}

using test::OnHost;

template <template <class> class Array, class Real>
Results run(const SmoothKernels<Real>& table, const Batch<Real>& batch) {
  const Array<Real> scores(batch.scores), g(batch.g), h(batch.h), upstream(batch.upstream);
  const Array<int64_t> offsets(batch.offsets), marked_offsets(batch.marked_offsets), order(batch.order);
  const Array<int32_t> rows(batch.marked);
  const int64_t count = batch.count(), n = batch.offsets.back(), p = batch.marked_offsets.back();
  const Array<double> spare(n * LaplaceRankVjp<Real>::slots), logs(p);
  const Array<Real> ranks(p), among(p), row_among(n), out(n), ap_out(n), terms(p), value(count), shares(p);
  const Array<Real> products(std::vector<Real>(static_cast<size_t>(n), Real(0)));
  const Ragged lists{offsets.data(), count};
  const Chosen marked{{marked_offsets.data(), count}, rows.data()}, all{lists, nullptr};
  const Real a = batch.steepness;
  table.laplace_rank(count,
                     {scores.span(), order.span(), lists, marked, all, a, spare.span(), ranks.span(), among.span()});
  table.laplace_rank(count, {scores.span(), order.span(), lists, all, marked, a, spare.span(), row_among.span()});
  table.laplace_rank_vjp(count,
                         {scores.span(), order.span(), lists, marked, a, g.span(), {}, spare.span(), out.span()});
  table.laplace_rank_vjp(
      count, {scores.span(), order.span(), lists, marked, a, g.span(), h.span(), spare.span(), ap_out.span()});
  table.laplace_rr_terms(count, {scores.span(), lists, marked, a, ranks.span(), terms.span()});
  table.laplace_log_rr(count,
                       {scores.span(), lists, marked, a, ranks.span(), logs.span(), shares.span(), value.span()});
  table.laplace_rr_product_vjp(count, {{scores.span(), lists, marked, a, g.span(), upstream.span(), products.span()}});
  return {doubles(ranks.values()), doubles(among.values()),  doubles(row_among.values()),
          doubles(out.values()),   doubles(ap_out.values()), doubles(terms.values()),
          doubles(value.values()), doubles(shares.values()), doubles(products.values())};
}

/// Expected results for one list: sums and products over all pairs.
template <class Real>
struct Plain {
  const Batch<Real>& batch;
  int64_t list;

  int64_t first() const { return batch.offsets[list]; }
  int64_t n() const { return batch.offsets[list + 1] - first(); }
  int64_t p() const { return batch.marked_offsets[list + 1] - own(); }
  int64_t own() const { return batch.marked_offsets[list]; }
  int64_t target(int64_t slot) const { return batch.marked[own() + slot]; }
  long double apart(int64_t j, int64_t i) const {
    const long double x = batch.scores[first() + j], y = batch.scores[first() + i];
    return x == y ? 0 : batch.steepness * (x - y);
  }
  static long double cdf(long double t) { return t <= 0 ? std::exp(t) / 2 : 1 - std::exp(-t) / 2; }
  static long double log_cdf(long double t) { return t <= 0 ? t - std::log(2.0L) : std::log(cdf(t)); }
  static long double density(long double t) { return std::exp(-std::fabs(t)) / 2; }
  long double rank(int64_t i) const {
    long double total = 1;
    for (int64_t j = 0; j < n(); ++j) total += j == i ? 0 : cdf(apart(j, i));
    return total;
  }
  long double among(int64_t i) const {
    long double total = 1;
    for (int64_t k = 0; k < p(); ++k) total += target(k) == i ? 0 : cdf(apart(target(k), i));
    return total;
  }
  /// The logarithm of a relevant row's product over the other relevant rows (a factor of smooth RR), without the row's
  /// rank.
  long double log_product(int64_t slot) const {
    long double total = 0;
    for (int64_t k = 0; k < p(); ++k) total += k == slot ? 0 : log_cdf(apart(target(slot), target(k)));
    return total;
  }

  void add_to(Results& to) const {
    std::vector<long double> logs, slopes(n()), ap_slopes(n()), products(n());
    for (int64_t i = 0; i < n(); ++i) to.row_among.push_back(static_cast<double>(among(i)));
    for (int64_t k = 0; k < p(); ++k) {
      const int64_t i = target(k);
      const long double g = batch.g[own() + k], h = batch.h[own() + k], a = batch.steepness;
      to.ranks.push_back(static_cast<double>(rank(i)));
      to.among.push_back(static_cast<double>(among(i)));
      for (int64_t j = 0; j < n(); ++j) {
        const long double term = j == i ? 0 : a * density(apart(j, i));
        slopes[j] += g * term;
        slopes[i] -= g * term;
      }
      for (int64_t m = 0; m < p(); ++m) {
        const int64_t j = target(m);
        const long double term = m == k ? 0 : a * h * density(apart(j, i));
        ap_slopes[j] += term;
        ap_slopes[i] -= term;
        const long double t = apart(i, j), ratio = t <= 0 ? 1 : density(t) / cdf(t);
        const long double product = m == k ? 0 : a * batch.upstream[list] * g * ratio;
        products[i] += product;
        products[j] -= product;
      }
      logs.push_back(log_product(k) - std::log(static_cast<long double>(to.ranks.back())));
      to.terms.push_back(static_cast<double>(std::exp(logs.back())));
    }
    const bool matters = p() > 0 && p() < n();
    long double total = 0, top = -HUGE_VALL;
    for (const long double log : logs) top = std::max(top, log);
    for (const long double log : logs) total += std::exp(log - top);
    for (const long double log : logs)
      to.shares.push_back(static_cast<double>(matters ? std::exp(log - top) / total : 0));
    to.log_values.push_back(static_cast<double>(matters ? top + std::log(total) : 0));
    for (int64_t i = 0; i < n(); ++i) {
      to.ndcg_slopes.push_back(static_cast<double>(slopes[i]));
      to.ap_slopes.push_back(static_cast<double>(slopes[i] + ap_slopes[i]));
      to.product_slopes.push_back(static_cast<double>(products[i]));
    }
  }
};

/// Compares two arrays. With `sums`, the tolerance is relative to the largest entry, because entries are sums of terms
/// that may cancel; otherwise it is relative to each entry.
void check_near(const std::vector<double>& found, const std::vector<double>& expected, double tolerance, bool sums) {
  REQUIRE(found.size() == expected.size());
  double scale = 1;
  for (const double x : expected) scale = std::max(scale, std::fabs(x));
  for (size_t i = 0; i < expected.size(); ++i) {
    if (found[i] == expected[i]) continue;
    INFO(i << ": " << found[i] << ", expected " << expected[i]);
    REQUIRE(std::fabs(found[i] - expected[i]) <= tolerance * (sums ? scale : std::max(1.0, std::fabs(expected[i]))));
  }
}

template <class Real>
void check(const Results& found, const Results& expected, bool finite) {
  const double tolerance = sizeof(Real) == 4 ? 2e-6 : 1e-10;
  check_near(found.ranks, expected.ranks, tolerance, false);
  check_near(found.among, expected.among, tolerance, false);
  check_near(found.row_among, expected.row_among, tolerance, false);
  check_near(found.ndcg_slopes, expected.ndcg_slopes, tolerance, true);
  check_near(found.ap_slopes, expected.ap_slopes, tolerance, true);
  check_near(found.terms, expected.terms, tolerance, false);
  check_near(found.product_slopes, expected.product_slopes, tolerance, true);
  // logarithms are not compared for lists with infinite scores: several relevant rows share an infinity
  if (!finite) return;
  check_near(found.log_values, expected.log_values, 4 * tolerance, false);
  check_near(found.shares, expected.shares, 4 * tolerance, true);
}

template <class Real>
SmoothKernels<Real> device_table() {
  return SmoothKernels<Real>::template made_for<cuda::Backend>();
}

}  // namespace

TEMPLATE_TEST_CASE("smooth ranks by the Laplace kernel agree with sums over all pairs", "", float, double) {
  for (const std::string shape : shapes) {
    CAPTURE(shape);
    const Batch<TestType> batch(shape, {0, 1, 31, 32, 33, 2, 127, 128, 129, 3, 17, 1000, 0, 16});
    Results expected;
    for (int64_t list = 0; list < batch.count(); ++list) Plain<TestType>{batch, list}.add_to(expected);
    const Results by_cpu = run<OnHost>(cpu_table<SmoothKernels<TestType>>(), batch);
    check<TestType>(by_cpu, expected, shape != "infinite");
    const Results by_gpu = run<test::OnDevice>(device_table<TestType>(), batch);
    check<TestType>(by_gpu, expected, shape != "infinite");
    // The emulator reverses the order of lanes at each launch. `run` makes an odd number of launches, so the second
    // call runs each kernel in the other order.
    const Results again = run<test::OnDevice>(device_table<TestType>(), batch);
    CHECK(again.ranks == by_gpu.ranks);
    CHECK(again.ap_slopes == by_gpu.ap_slopes);
  }
}

TEST_CASE("smooth ranks by the Laplace kernel of a list with 200,000 rows add up to N (N + 1) / 2") {
  const int64_t n = 200000;
  const Batch<double> batch("normal", {n});
  const Ragged lists{batch.offsets.data(), 1};
  std::vector<double> spare(static_cast<size_t>(n * LaplaceRank<double>::slots)), ranks(static_cast<size_t>(n));
  const Chosen all{lists, nullptr};
  cpu_table<SmoothKernels<double>>().laplace_rank(
      1,
      {{batch.scores.data(), n}, {batch.order.data(), n}, lists, all, all, 1e3, {spare.data(), n}, {ranks.data(), n}});
  const double total = std::accumulate(ranks.begin(), ranks.end(), 0.0), expected = 0.5 * n * (n + 1.0);
  CHECK(std::fabs(total - expected) <= 1e-11 * expected);
}

}  // namespace mr
