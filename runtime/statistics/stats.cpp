// Tests of paired values, and summaries. NaN is a missing value: its pair is left out and counted.
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include <boost/math/distributions/students_t.hpp>
#include <boost/math/special_functions/gamma.hpp>

#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/statistics/observations.h"

namespace mr {
namespace stats {
namespace {

std::vector<double> numbers(const Tensor& x) { return x.to(Dtype::float64).to_vector<double>(); }

void refuse_infinite(const char* name, const std::vector<double>& values) {
  const auto found = std::find_if(values.begin(), values.end(), [](double v) { return std::isinf(v); });
  if (found != values.end())
    throw ArgumentError(
        name, "entry " + std::to_string(found - values.begin() + 1) + " is infinite, expected finite numbers");
}

void refuse_other_count(const char* name, int64_t found, int64_t expected) {
  if (found != expected)
    throw ArgumentError(
        name, std::to_string(found) + " values, expected " + std::to_string(expected) + ", as in the other sample");
}

/// Returns the largest absolute value among the finite values; 0 if there is none.
double largest(const std::vector<double>& values) {
  double most = 0;
  for (const double v : values) most = std::isfinite(v) ? std::max(most, std::fabs(v)) : most;
  return most;
}

/// Returns the unit by which numbers of absolute value `size` are divided before they are squared: 1, or the power of
/// two below `size` if their squares would overflow or underflow.
double unit_of(double size) {
  const bool usual = size == 0 || (size > 1e-100 && size < 1e100);
  return usual ? 1 : std::ldexp(1, std::max(std::ilogb(size), std::numeric_limits<double>::min_exponent));
}

double rounding_of(const Tensor& x) { return x.dtype() == Dtype::float32 ? 0x1p-22 : 0x1p-46; }

}  // namespace

Sample::Sample(const char* name, const Tensor& x) : values(numbers(x)) {
  refuse_infinite(name, values);
  skipped = static_cast<int64_t>(std::erase_if(values, [](double v) { return std::isnan(v); }));
}

Pairs::Pairs(const char* name_a, const Tensor& x, const char* name_b, const Tensor& y) {
  refuse_other_count(name_b, y.entries(), x.entries());
  const auto from_a = numbers(x), from_b = numbers(y);
  refuse_infinite(name_a, from_a);
  refuse_infinite(name_b, from_b);
  for (size_t i = 0; i < from_a.size(); ++i) {
    if (std::isnan(from_a[i]) || std::isnan(from_b[i])) {
      ++skipped;
      continue;
    }
    a.push_back(from_a[i]);
    b.push_back(from_b[i]);
  }
}

Differences::Differences(const Tensor& a, const Tensor& b) {
  refuse_other_count("b", b.entries(), a.entries());
  const auto x = numbers(a), y = numbers(b);
  unit = unit_of(std::max(largest(x), largest(y)));
  for (size_t i = 0; i < x.size(); ++i) {
    if (std::isnan(x[i]) || std::isnan(y[i])) continue;
    if (std::isinf(x[i]) || std::isinf(y[i])) {
      ++infinite;
      values.push_back(x[i] == y[i] ? 0 : x[i] / unit - y[i] / unit);
      continue;
    }
    const double error = rounding_of(a) * std::fabs(x[i] / unit) + rounding_of(b) * std::fabs(y[i] / unit);
    const double difference = x[i] / unit - y[i] / unit;
    values.push_back(std::fabs(difference) <= error ? 0 : difference);
    rounding += error;
    largest_rounding = std::max(largest_rounding, error);
  }
  skipped = static_cast<int64_t>(x.size() - values.size());
}

bool Differences::alike(double centre) const {
  return std::all_of(values.begin(), values.end(), [&](double v) { return std::fabs(v - centre) <= largest_rounding; });
}

void sort(std::vector<double>& x) { std::sort(x.begin(), x.end(), patient(std::less<>())); }

double mean(const std::vector<double>& x) {
  double total = 0;
  for (const double v : x) total += v;
  return total / static_cast<double>(x.size());
}

double standard_deviation(const std::vector<double>& x) {
  if (x.size() < 2) return undefined;
  const double centre = mean(x);
  double square = 0;
  for (const double v : x) square += (v - centre) * (v - centre);
  return std::sqrt(square / static_cast<double>(x.size() - 1));
}

double sorted_quantile(const std::vector<double>& sorted, double p) {
  if (sorted.empty() || std::isnan(p)) return undefined;
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  const double low = sorted[below], high = sorted[std::min(below + 1, sorted.size() - 1)];
  return low + (position - static_cast<double>(below)) * (high - low);
}

}  // namespace stats

namespace {

using stats::Differences, stats::undefined;

struct PairedT {
  double t = undefined, df = undefined, p = undefined;
  double mean_difference = undefined, standard_error = undefined;
  int64_t n = 0, skipped = 0;
  static constexpr auto fields =
      lua::fields("t", &PairedT::t, "df", &PairedT::df, "p", &PairedT::p, "mean_difference", &PairedT::mean_difference,
                  "standard_error", &PairedT::standard_error, "n", &PairedT::n, "skipped", &PairedT::skipped);
};

PairedT paired_t(const Tensor& a, const Tensor& b) {
  const Differences d(a, b);
  const auto n = static_cast<double>(d.count());
  PairedT out{.df = n - 1, .n = d.count(), .skipped = d.skipped};
  double mean = 0, square = 0;
  for (const double x : d.values) mean += x / n;
  for (const double x : d.values) square += (x - mean) * (x - mean);
  if (d.infinite > 0 || n == 0) return out;
  out.mean_difference = mean * d.unit;
  if (n < 2) return out;
  const double error = d.alike(mean) ? 0 : std::sqrt(square / (n - 1) / n);
  out.standard_error = error * d.unit;
  if (error == 0) {
    out.t = mean == 0 ? 0 : std::copysign(std::numeric_limits<double>::infinity(), mean);
    out.p = mean == 0 ? 1 : 0;
  } else {
    out.t = mean / error;
    out.p = 2 * boost::math::cdf(boost::math::complement(boost::math::students_t(n - 1), std::fabs(out.t)));
  }
  return out;
}

/// Returns the tolerance within which absolute differences count as ties.
double size_tolerance(const Differences& d) {
  return stats::tolerance * stats::largest(d.values) + 2 * d.largest_rounding;
}

/// Returns twice the mid-ranks of the absolute differences (doubled, they are integers), in the order of the
/// differences. Absolute differences are tied if they exceed the smallest one of the tie by at most the tolerance.
std::vector<int64_t> doubled_ranks(const Differences& d) {
  const std::vector<double>& differences = d.values;
  const size_t n = differences.size();
  const double apart = size_tolerance(d);
  std::vector<size_t> order(n);
  for (size_t i = 0; i < n; ++i) order[i] = i;
  const auto size = [&](size_t i) { return std::fabs(differences[i]); };
  std::sort(order.begin(), order.end(), stats::patient([&](size_t i, size_t j) { return size(i) < size(j); }));
  std::vector<int64_t> ranks(n);
  for (size_t first = 0, last = 0; first < n; first = last) {
    const double least = size(order[first]);
    while (last < n && (size(order[last]) == least || size(order[last]) <= least + apart)) ++last;
    for (size_t r = first; r < last; ++r) ranks[order[r]] = static_cast<int64_t>(first + 1 + last);
  }
  return ranks;
}

/// Returns the exact two-sided p-value of the signed-rank test, where v is the sum of the doubled ranks of the positive
/// differences. Counts all choices of signs, which are equally likely under the null hypothesis.
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

/// Returns the two-sided p-value of the signed-rank test by the normal approximation, with a continuity correction. v
/// is the sum of the doubled ranks of the positive differences.
double signed_rank_p_normal(const std::vector<int64_t>& ranks, int64_t v) {
  double mean = 0, variance = 0;
  for (const int64_t r : ranks) {
    mean += 0.25 * static_cast<double>(r);
    variance += 0.0625 * static_cast<double>(r) * static_cast<double>(r);
  }
  const double apart = std::max(0.0, std::fabs(0.5 * static_cast<double>(v) - mean) - 0.5);
  return std::erfc(apart / std::sqrt(2 * variance));
}

struct SignedRanks {
  double statistic = 0, p = undefined;  ///< statistic: sum of the ranks of the positive differences; p is two-sided
  bool exact = true;
  int64_t n = 0, equal = 0, skipped = 0;  ///< numbers of pairs that differ, that are equal, and that are left out
  static constexpr auto fields =
      lua::fields("statistic", &SignedRanks::statistic, "p", &SignedRanks::p, "exact", &SignedRanks::exact, "n",
                  &SignedRanks::n, "equal", &SignedRanks::equal, "skipped", &SignedRanks::skipped);
};

SignedRanks wilcoxon(const Tensor& a, const Tensor& b) {
  Differences d(a, b);
  const int64_t pairs = d.count();
  std::erase(d.values, 0.0);
  const int64_t n = d.count(), largest_exact = 200;
  if (n == 0) return {.p = pairs == 0 ? undefined : 1, .equal = pairs, .skipped = d.skipped};
  const std::vector<int64_t> ranks = doubled_ranks(d);
  int64_t v = 0;
  for (int64_t i = 0; i < n; ++i) v += d.values[i] > 0 ? ranks[i] : 0;
  const bool exact = n <= largest_exact;
  const double p = exact ? signed_rank_p(ranks, v) : signed_rank_p_normal(ranks, v);
  return {.statistic = 0.5 * static_cast<double>(v),
          .p = p,
          .exact = exact,
          .n = n,
          .equal = pairs - n,
          .skipped = d.skipped};
}

/// Returns mean and sample standard deviation of the values without NaN, the number of these values, and the number of
/// NaNs.
std::tuple<double, double, int64_t, int64_t> summary(const Tensor& x) {
  const auto values = x.to(Dtype::float64).to_vector<double>();
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
  return {mean, n > 1 ? std::sqrt(square / static_cast<double>(n - 1)) : undefined, n,
          static_cast<int64_t>(values.size()) - n};
}

struct EffectSize {
  /// d: Cohen's d_z, the mean of the differences in units of their standard deviation. hedges: Hedges' g, which is d_z
  /// without its bias (Hedges 1981, exact factor).
  double d = undefined, hedges = undefined;
  double wins = undefined, ties = undefined, losses = undefined;  ///< shares of the pairs with a > b, a = b, a < b
  int64_t n = 0, skipped = 0;
  static constexpr auto fields = lua::fields("d", &EffectSize::d, "hedges", &EffectSize::hedges, "wins",
                                             &EffectSize::wins, "ties", &EffectSize::ties, "losses",
                                             &EffectSize::losses, "n", &EffectSize::n, "skipped", &EffectSize::skipped);
};

EffectSize effect_size(const Tensor& a, const Tensor& b) {
  const Differences d(a, b);
  if (d.count() == 0) return {.skipped = d.skipped};
  const auto share = [&](auto&& counts) {
    return static_cast<double>(std::count_if(d.values.begin(), d.values.end(), counts)) /
           static_cast<double>(d.count());
  };
  const double centre = stats::mean(d.values);
  const double sd = d.count() > 1 && d.alike(centre) ? 0 : stats::standard_deviation(d.values);
  const double dz = d.infinite > 0 ? undefined : centre == 0 && sd == 0 ? 0 : centre / sd;
  const double half = 0.5 * static_cast<double>(d.count() - 1);
  const double factor =
      half > 0.5 ? 1 / (boost::math::tgamma_delta_ratio(half - 0.5, 0.5) * std::sqrt(half)) : undefined;
  return {.d = dz,
          .hedges = dz * factor,
          .wins = share([](double v) { return v > 0; }),
          .ties = share([](double v) { return v == 0; }),
          .losses = share([](double v) { return v < 0; }),
          .n = d.count(),
          .skipped = d.skipped};
}

}  // namespace

extern const lua::OpTable stats_functions{
    lua::OpTable::functions,
    nullptr,
    {
        lua::op<&paired_t>("paired_t", "a, b", "Student's t-test of paired values."),
        lua::op<&wilcoxon>("wilcoxon", "a, b", "Wilcoxon's signed-rank test. n is the number of unequal pairs."),
        lua::op<&effect_size>("effect_size", "a, b",
                              "Effect sizes of paired values: d_z, Hedges' g, shares of a > b, a = b and a < b."),
        lua::op<&summary>("summary", "x",
                          "Mean, standard deviation, number of values, and number of NaNs, which are left out."),
    }};

}  // namespace mr
