// Compares the closed forms of the mean, variance, minimum and maximum of metrics over random rankings with all
// arrangements of small lists.
#include "kernels/bounds/bounds.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include <catch2/catch.hpp>

#include "kernels/ranking/discount.h"

using namespace mr;

namespace {

/// Returns the minimum, maximum, mean and variance of the metric `value` over all different orders of `rows`.
BoundStats enumerated(std::vector<double> rows, const std::function<long double(const std::vector<double>&)>& value) {
  std::sort(rows.begin(), rows.end());
  std::vector<long double> values;
  do {
    values.push_back(value(rows));
  } while (std::next_permutation(rows.begin(), rows.end()));
  const auto count = static_cast<long double>(values.size());
  const long double mean = std::accumulate(values.begin(), values.end(), 0.0L) / count;
  long double square = 0;
  for (const long double x : values) square += (x - mean) * (x - mean);
  const auto [min, max] = std::minmax_element(values.begin(), values.end());
  return {static_cast<double>(*min), static_cast<double>(*max), 0, static_cast<double>(mean),
          static_cast<double>(square / count)};
}

void same(const BoundStats& found, const BoundStats& expected, bool variance = true) {
  const auto close = [](double x) { return Approx(x).epsilon(1e-13).margin(1e-14); };
  CHECK(found.min == close(expected.min));
  CHECK(found.max == close(expected.max));
  CHECK(found.expectation == close(expected.expectation));
  if (variance) CHECK(found.variance == close(expected.variance));
}

long double sum_of_discounts(const std::vector<double>& gains, const std::vector<double>& d) {
  long double total = 0;
  for (size_t r = 0; r < gains.size(); ++r) total += static_cast<long double>(gains[r]) * d[r];
  return total;
}

std::vector<double> binary(int64_t n, int64_t p) {
  std::vector<double> rows(static_cast<size_t>(n), 0.0);
  std::fill(rows.begin(), rows.begin() + p, 1.0);
  return rows;
}

std::vector<double> discounts(size_t n, size_t cutoff) {
  std::vector<double> d(n, 0.0);
  for (size_t r = 0; r < std::min(n, cutoff); ++r) d[r] = discount(static_cast<double>(r) + 1);
  return d;
}

long double average_precision(const std::vector<double>& rows) {
  long double total = 0, found = 0;
  for (size_t r = 0; r < rows.size(); ++r) {
    found += rows[r];
    total += rows[r] * found / static_cast<long double>(r + 1);
  }
  return total / found;
}

long double reciprocal_rank(const std::vector<double>& rows) {
  return 1 / static_cast<long double>(std::find(rows.begin(), rows.end(), 1.0) - rows.begin() + 1);
}

/// Counts the wrongly ordered pairs: a relevant row below a row that is not relevant.
long double wrong_pairs(const std::vector<double>& rows) {
  long double total = 0, others = 0;
  for (const double b : rows) {
    total += b * others;
    others += 1 - b;
  }
  return total;
}

}  // namespace

TEST_CASE("closed forms of bound statistics agree with all arrangements of lists of up to 9 rows") {
  for (int64_t n = 1; n <= 9; ++n) {
    for (int64_t p = 1; p <= n; ++p) {
      INFO("n " << n << " p " << p);
      const std::vector<double> rows = binary(n, p);
      BoundStats ap = ap_stats(n, p);
      ap.variance = ap_variance(n, p);
      same(ap, enumerated(rows, average_precision));
      same(rr_stats(n, p), enumerated(rows, reciprocal_rank));
      same(nrbp_loss_stats(n, p), enumerated(rows, wrong_pairs));
      CHECK(nrbp_loss_stats(n, p).best == 0);
      CHECK(ap.best == 1);
    }
  }
}

TEST_CASE("linear_stats agrees with all arrangements with grades and cutoffs") {
  const std::vector<std::vector<double>> lists{{1},       {1, 0},          {1, 1, 0, 0, 0},     {3, 1, 0},
                                               {7, 3, 1}, {7, 7, 3, 1, 0}, {15, 3, 3, 1, 0, 0}, {0.5, 0.25, 0.25, 0}};
  for (const auto& gains : lists) {
    for (const size_t cutoff : {size_t{1}, size_t{2}, size_t{3}, size_t{100}}) {
      INFO("first gain " << gains[0] << ", rows " << gains.size() << ", cutoff " << cutoff);
      const std::vector<double> d = discounts(gains.size(), cutoff);
      const auto norm = static_cast<double>(sum_of_discounts(gains, d));
      const auto metric = [&](const std::vector<double>& rows) { return sum_of_discounts(rows, d) / norm; };
      same(linear_stats(gains, d, norm), enumerated(gains, metric));
    }
  }
}

TEST_CASE("ap_stats and nrbp_loss_stats keep their precision for lists of up to 1,000 rows") {
  for (const int64_t n : {int64_t{31}, int64_t{128}, int64_t{1000}}) {
    // if one row is relevant, AP and RR both are 1 / rank
    const BoundStats ap = ap_stats(n, 1), rr = rr_stats(n, 1);
    CHECK(ap.min == Approx(rr.min).epsilon(1e-14));
    CHECK(ap.expectation == Approx(rr.expectation).epsilon(1e-13));
    CHECK(ap_variance(n, 1) == Approx(rr.variance).epsilon(1e-11));
    // The nRBP loss of a list with p relevant rows is the sum of their ranks, up to a constant (`shift`). linear_stats
    // of these ranks must therefore agree with nrbp_loss_stats.
    const int64_t p = n / 3;
    std::vector<double> ranks(static_cast<size_t>(n));
    std::iota(ranks.begin(), ranks.end(), 0.0);
    const BoundStats linear = linear_stats(binary(n, p), ranks, 1), loss = nrbp_loss_stats(n, p);
    const double shift = static_cast<double>(p * (p - 1)) / 2;
    CHECK(linear.expectation - shift == Approx(loss.expectation).epsilon(1e-13));
    CHECK(linear.variance == Approx(loss.variance).epsilon(1e-12));
  }
}
