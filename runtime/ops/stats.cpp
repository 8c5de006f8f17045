// Tests of paired values, and summaries. NaN stands for a value that is not there: its pair is left out and counted.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <boost/math/distributions/students_t.hpp>

#include "runtime/lua/bind.h"
#include "runtime/ops/check.h"

namespace mr {
namespace {

constexpr double undefined = std::numeric_limits<double>::quiet_NaN();

std::vector<double> numbers(const Tensor& x) { return x.to(Dtype::float64).to_vector<double>(); }

/// a - b of the pairs without NaN.
struct Differences {
  std::vector<double> values;
  int64_t skipped = 0;

  Differences(const Tensor& a, const Tensor& b) {
    if (a.entries() != b.entries()) {
      throw ArgumentError(
          "b", std::to_string(b.entries()) + " values against " + std::to_string(a.entries()) + ", expected as many");
    }
    const auto x = numbers(a), y = numbers(b);
    for (size_t i = 0; i < x.size(); ++i) {
      if (!std::isnan(x[i]) && !std::isnan(y[i])) values.push_back(x[i] - y[i]);
    }
    skipped = static_cast<int64_t>(x.size() - values.size());
  }
  int64_t count() const { return static_cast<int64_t>(values.size()); }
};

/// t, degrees of freedom, two-sided p, mean difference, its standard error, pairs used, pairs left out.
std::tuple<double, double, double, double, double, int64_t, int64_t> paired_t(const Tensor& a, const Tensor& b) {
  const Differences d(a, b);
  const auto n = static_cast<double>(d.count());
  double mean = 0, square = 0;
  for (const double x : d.values) mean += x / n;
  for (const double x : d.values) square += (x - mean) * (x - mean);
  if (n < 2) return {undefined, n - 1, undefined, n == 1 ? mean : undefined, undefined, d.count(), d.skipped};
  const double error = std::sqrt(square / (n - 1) / n);
  if (error == 0) {
    const double t = mean == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), mean);
    return {t, n - 1, mean == 0 ? 1 : 0, mean, 0, d.count(), d.skipped};
  }
  const double t = mean / error;
  const double p = 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(n - 1), std::fabs(t)));
  return {t, n - 1, p, mean, error, d.count(), d.skipped};
}

/// Twice the mid-ranks of the sizes of the differences, so that they are whole, in the order of the differences.
std::vector<int64_t> doubled_ranks(const std::vector<double>& differences) {
  const size_t n = differences.size();
  std::vector<size_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = i;
  const auto size = [&](size_t i) { return std::fabs(differences[i]); };
  std::sort(order.begin(), order.end(), [&](size_t i, size_t j) { return size(i) < size(j); });
  std::vector<int64_t> ranks(n);
  for (size_t first = 0, last = 0; first < n; first = last) {
    while (last < n && size(order[last]) == size(order[first])) ++last;
    for (size_t r = first; r < last; ++r) ranks[order[r]] = static_cast<int64_t>(first + 1 + last);
  }
  return ranks;
}

/// Two-sided p of the sum v of the ranks with a positive sign when every sign is a fair coin, by counting.
double signed_rank_p(const std::vector<int64_t>& ranks, int64_t v) {
  int64_t total = 0;
  for (const int64_t r : ranks) total += r;
  std::vector<double> chance(static_cast<size_t>(total) + 1, 0.0);
  chance[0] = 1;
  int64_t reached = 0;
  for (const int64_t r : ranks) {
    reached += r;
    for (int64_t s = reached; s >= 0; --s) chance[s] = 0.5 * (chance[s] + (s >= r ? chance[s - r] : 0));
  }
  double low = 0, high = 0;
  for (int64_t s = 0; s <= v; ++s) low += chance[s];
  for (int64_t s = v; s <= total; ++s) high += chance[s];
  return std::min(1.0, 2 * std::min(low, high));
}

/// The same by the normal distribution, with a correction for continuity.
double signed_rank_p_normal(const std::vector<int64_t>& ranks, int64_t v) {
  double mean = 0, variance = 0;
  for (const int64_t r : ranks) {
    mean += 0.25 * static_cast<double>(r);
    variance += 0.0625 * static_cast<double>(r) * static_cast<double>(r);
  }
  const double apart = std::max(0.0, std::fabs(0.5 * static_cast<double>(v) - mean) - 0.5);
  return std::erfc(apart / std::sqrt(2 * variance));
}

/// Sum of the ranks of the positive differences, two-sided p, whether that is exact, differences other than 0, pairs
/// that are equal, pairs left out (Wilcoxon 1945).
std::tuple<double, double, bool, int64_t, int64_t, int64_t> wilcoxon(const Tensor& a, const Tensor& b) {
  Differences d(a, b);
  const int64_t pairs = d.count();
  std::erase(d.values, 0.0);
  const int64_t n = d.count(), largest_exact = 200;
  if (n == 0) return {0, pairs == 0 ? undefined : 1, true, 0, pairs, d.skipped};
  const std::vector<int64_t> ranks = doubled_ranks(d.values);
  int64_t v = 0;
  for (int64_t i = 0; i < n; ++i) v += d.values[i] > 0 ? ranks[i] : 0;
  const bool exact = n <= largest_exact;
  const double p = exact ? signed_rank_p(ranks, v) : signed_rank_p_normal(ranks, v);
  return {0.5 * static_cast<double>(v), p, exact, n, pairs - n, d.skipped};
}

/// Mean and sample standard deviation of the values that are not NaN, how many they are and how many are NaN.
std::tuple<double, double, int64_t, int64_t> summary(const Tensor& x) {
  const auto values = numbers(x);
  double total = 0, square = 0;
  int64_t n = 0;
  for (const double v : values) {
    if (std::isnan(v)) continue;
    total += v;
    ++n;
  }
  const double mean = total / static_cast<double>(n);
  for (const double v : values) {
    if (!std::isnan(v)) square += (v - mean) * (v - mean);
  }
  return {mean, std::sqrt(square / static_cast<double>(n - 1)), n, static_cast<int64_t>(values.size()) - n};
}

}  // namespace

extern const lua::OpTable stats_functions{
    lua::OpTable::functions,
    nullptr,
    {
        lua::op<&paired_t>("paired_t", "a, b",
                           "Student's t-test of pairs: t, df, p, mean difference, its error, pairs, left out."),
        lua::op<&wilcoxon>("wilcoxon", "a, b",
                           "Wilcoxon's signed-rank test: rank sum, p, exact, unequal pairs, equal pairs, left out."),
        lua::op<&summary>("summary", "x", "Mean, standard deviation, count, left out; NaN is left out."),
    }};

}  // namespace mr
