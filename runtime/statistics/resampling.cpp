// Resampling tests and intervals: sign flips of paired differences, and the bootstrap. Random numbers depend on (seed,
// draw, value) only.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>

#include <boost/math/distributions/normal.hpp>

#include "kernels/core/rng.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/statistics/observations.h"

namespace mr {
namespace {

using stats::undefined;

constexpr int64_t most_draws = 100'000'000;

void check_draws(const char* name, int64_t draws) {
  if (draws < 1 || draws > most_draws)
    throw ArgumentError(name, std::to_string(draws) + ", expected 1 to " + std::to_string(most_draws));
}

double with_sign(double value, uint64_t negative) {
  return std::bit_cast<double>(std::bit_cast<uint64_t>(value) ^ (negative << 63));
}

/// Returns the number of sums whose absolute value is extreme among `draws` sums. count_piece(first, last) counts a
/// range of draws. Ranges are counted in parallel and then added.
template <class CountPiece>
int64_t count_extreme(int64_t draws, int64_t grain, const CountPiece& count_piece) {
  const int64_t pieces = (draws + grain - 1) / grain;
  std::vector<int64_t> found(static_cast<size_t>(pieces));
  cpu::parallel_each(pieces, 1, [&](int64_t piece) {
    found[piece] = count_piece(piece * grain, std::min(draws, (piece + 1) * grain));
  });
  return std::accumulate(found.begin(), found.end(), int64_t{0});
}

/// Counts the extreme sums over all signs of the differences. The first difference keeps its sign, because flipping all
/// signs gives a sum of the same absolute value.
int64_t extreme_of_all_signs(const std::vector<double>& d, double limit) {
  return count_extreme(int64_t{1} << (d.size() - 1), 4096, [&](int64_t first, int64_t last) {
    int64_t found = 0;
    for (int64_t signs = first; signs < last; ++signs) {
      double sum = d[0];
      for (size_t i = 1; i < d.size(); ++i) sum += with_sign(d[i], (static_cast<uint64_t>(signs) >> (i - 1)) & 1);
      found += std::fabs(sum) >= limit ? 1 : 0;
    }
    return found;
  });
}

constexpr int64_t sign_lanes = 8;

/// Returns the sums of the differences with the random signs of draws first to first + 7, computed together.
std::array<double, sign_lanes> signed_sums(const std::vector<double>& d, RandomKey key, int64_t first) {
  std::array<double, sign_lanes> sums{};
  std::array<uint64_t, sign_lanes> signs{};
  const auto words = static_cast<int64_t>((d.size() + 63) / 64);
  stats::each(words, [&](int64_t word) {
    for (int64_t k = 0; k < sign_lanes; ++k)
      signs[k] = philox(key, static_cast<uint64_t>(first + k), static_cast<uint64_t>(word)).low();
    const size_t start = 64 * static_cast<size_t>(word), end = std::min(d.size(), start + 64);
    for (size_t i = start; i < end; ++i) {
      for (int64_t k = 0; k < sign_lanes; ++k) sums[k] += with_sign(d[i], (signs[k] >> (i - start)) & 1);
    }
  });
  return sums;
}

int64_t extreme_of_random_signs(const std::vector<double>& d, double limit, int64_t orders, int64_t seed) {
  const RandomKey key = random_key(static_cast<uint64_t>(seed), "permutation");
  return count_extreme(orders, 8 * sign_lanes, [&](int64_t first, int64_t last) {
    int64_t found = 0;
    for (int64_t order = first; order < last; order += sign_lanes) {
      const auto sums = signed_sums(d, key, order);
      for (int64_t k = 0; k < std::min(sign_lanes, last - order); ++k) found += std::fabs(sums[k]) >= limit ? 1 : 0;
    }
    return found;
  });
}

struct Permutation {
  /// two-sided p-value of the permutation test, and its Monte Carlo error
  double mean_difference = undefined, p = undefined, error = undefined;
  bool exact = true;
  int64_t orders = 0, n = 0, skipped = 0;  ///< number of sign choices tried, of pairs, and of pairs left out
  static constexpr auto fields = lua::fields(
      "mean_difference", &Permutation::mean_difference, "p", &Permutation::p, "error", &Permutation::error, "exact",
      &Permutation::exact, "orders", &Permutation::orders, "n", &Permutation::n, "skipped", &Permutation::skipped);
};

Permutation permutation(const Tensor& a, const Tensor& b, int64_t orders, int64_t seed) {
  check_draws("orders", orders);
  stats::Differences d(a, b);
  const int64_t most_enumerated = 20;
  Permutation out{.n = d.count(), .skipped = d.skipped};
  if (out.n == 0 || d.infinite > 0) return out;
  out.mean_difference = stats::mean(d.values) * d.unit;
  std::erase(d.values, 0.0);  // removes differences of 0, which have no sign
  if (d.values.empty()) {
    out.p = 1, out.error = 0, out.orders = 1;
    return out;
  }
  double sum = 0, size = 0;
  for (const double v : d.values) {
    sum += v;
    size += std::fabs(v);
  }
  // A sum of signed differences counts as extreme if its absolute value is at least `limit`: the absolute observed sum,
  // less what rounding may change. `size` is the largest possible sum.
  const double limit = std::fabs(sum) - stats::tolerance * size - 2 * d.rounding;
  if (d.count() <= most_enumerated) {
    const int64_t all = int64_t{1} << (d.count() - 1);
    out.p = static_cast<double>(extreme_of_all_signs(d.values, limit)) / static_cast<double>(all);
    out.error = 0, out.orders = 2 * all;
    return out;
  }
  // The observed signs count as one of the draws (Phipson & Smyth 2010).
  const auto draws = static_cast<double>(orders + 1);
  out.p = static_cast<double>(extreme_of_random_signs(d.values, limit, orders, seed) + 1) / draws;
  out.error = std::sqrt(out.p * (1 - out.p) / draws);
  out.exact = false, out.orders = orders;
  return out;
}

/// Draws bootstrap samples: calls take(position, index of a value) for each position of a sample. 128 random bits serve
/// two positions.
struct Resampler {
  RandomKey key;
  uint64_t n;

  Resampler(int64_t seed, size_t count) : key(random_key(static_cast<uint64_t>(seed), "bootstrap")), n(count) {}
  template <class Take>
  void draw(int64_t sample, const Take& take) const {
    stats::each(static_cast<int64_t>((n + 1) / 2), [&](int64_t pair) {
      const auto i = 2 * static_cast<uint64_t>(pair);
      const Random128 bits = philox(key, static_cast<uint64_t>(sample), static_cast<uint64_t>(pair));
      take(i, bounded(bits.low(), n));
      if (i + 1 < n) take(i + 1, bounded(bits.high(), n));
    });
  }
};

double median_of(std::vector<double>& x) {
  const auto middle = x.begin() + static_cast<int64_t>(x.size() / 2);
  std::nth_element(x.begin(), middle, x.end(), stats::patient(std::less<>()));
  return x.size() % 2 == 1 ? *middle : 0.5 * (*std::max_element(x.begin(), middle) + *middle);
}

double statistic_of(const std::string& name, std::vector<double>& x) {
  if (x.empty()) return undefined;
  if (name == "mean") return stats::mean(x);
  if (name == "median") return median_of(x);
  throw ArgumentError("statistic", "'" + name + "', expected mean or median");
}

/// Computes the jackknife: writes to out[i] the statistic of x without value i.
void leave_each_out(const std::string& statistic, const std::vector<double>& x, double estimate, Span<double> out) {
  const auto n = static_cast<int64_t>(x.size());
  std::vector<double> sorted;
  if (statistic == "median") stats::sort(sorted = x);
  cpu::parallel_each(n, 4096, [&](int64_t i) {
    if (statistic == "mean") {
      out[i] = (static_cast<double>(n) * estimate - x[i]) / static_cast<double>(n - 1);
      return;
    }
    const int64_t gone = std::lower_bound(sorted.begin(), sorted.end(), x[i]) - sorted.begin();
    const auto rest = [&](int64_t k) { return sorted[static_cast<size_t>(k < gone ? k : k + 1)]; };
    const int64_t left = n - 1;
    out[i] = left == 0 ? undefined : left % 2 == 1 ? rest(left / 2) : 0.5 * (rest(left / 2 - 1) + rest(left / 2));
  });
}

/// Returns the statistic of x, the statistics of bootstrap samples of x, and the statistics of x without each of its
/// values.
std::tuple<double, Tensor, Tensor> bootstrap(const Tensor& x, const std::string& statistic, int64_t samples,
                                             int64_t seed) {
  check_draws("samples", samples);
  const std::vector<double> values = stats::Sample("x", x).values;
  std::vector<double> copy = values;
  const double estimate = statistic_of(statistic, copy);
  Tensor drawn = Tensor::empty({samples}, Dtype::float64),
         without = Tensor::empty({std::ssize(values)}, Dtype::float64);
  const auto of_samples = drawn.span<double>();
  const Resampler resampler(seed, values.size());
  cpu::parallel_each(samples, 16, [&](int64_t s) {
    std::vector<double> sample(values.size());
    resampler.draw(s, [&](uint64_t position, uint64_t which) { sample[position] = values[which]; });
    of_samples[s] = statistic_of(statistic, sample);
  });
  leave_each_out(statistic, values, estimate, without.span<double>());
  return {estimate, drawn, without};
}

/// Writes to `out` the statistics that `values_distribution` returns, for one sample. The sample has the value
/// sorted[k] counts[k] times, n values together.
void distribution_of(const std::vector<double>& sorted, const std::vector<int32_t>& counts,
                     const std::vector<double>& shares, double* out) {
  const auto n = static_cast<double>(sorted.size());
  const double tenth = n / 10, decile = std::ceil(n / 10);
  double sum = 0, apart = 0, tail = 0, worst = 0, below = 0;
  size_t share = 0;
  double last = undefined;  // the next smaller value in the sample
  for (size_t k = 0; k < sorted.size(); ++k) {
    const double value = sorted[k], count = counts[k];
    if (count == 0) continue;
    sum += count * value;
    apart += count * (2 * below + count - n) * value;
    tail += std::clamp(tenth - below, 0.0, count) * value;
    worst += std::clamp(decile - below, 0.0, count) * value;
    // The sample is sorted, and positions count from 0. `value` is at the positions below to below + count - 1.
    for (; share < shares.size(); ++share) {
      const double place = (n - 1) * shares[share], part = place - (below - 1);
      if (place > below + count - 1) break;
      out[4 + share] = part < 1 ? last + part * (value - last) : value;
    }
    below += count;
    last = value;
  }
  out[0] = sum / n;
  out[1] = worst / decile;
  out[2] = tail / tenth;
  out[3] = sum > 0 ? apart / (n * sum) : undefined;
}

/// Returns the mean, the mean of the lowest ceil(n / 10) values, the mean of the lowest n / 10 values (the last one
/// counts in part), the Gini coefficient, and quantiles (ascending `shares`): of x, and of bootstrap samples of x, a
/// row for each.
std::tuple<Tensor, Tensor> values_distribution(const Tensor& x, const Tensor& shares, int64_t samples, int64_t seed) {
  check_draws("samples", samples);
  const std::vector<double> values = stats::Sample("x", x).values;
  const std::vector<double> wanted = shares.to(Dtype::float64).to_vector<double>();
  std::vector<double> sorted = values;
  stats::sort(sorted);
  std::vector<int64_t> place(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    place[i] = std::lower_bound(sorted.begin(), sorted.end(), values[i]) - sorted.begin();
  const auto width = static_cast<int64_t>(4 + wanted.size());
  Tensor estimate = Tensor::full({width}, undefined, Dtype::float64);
  Tensor drawn = Tensor::full({samples, width}, undefined, Dtype::float64);
  if (values.empty()) return {estimate, drawn};
  distribution_of(sorted, std::vector<int32_t>(values.size(), 1), wanted, estimate.span<double>().data);
  const auto of_samples = drawn.span<double>();
  const Resampler resampler(seed, values.size());
  cpu::parallel_each(samples, 16, [&](int64_t s) {
    std::vector<int32_t> counts(values.size());
    resampler.draw(s, [&](uint64_t, uint64_t which) { ++counts[static_cast<size_t>(place[which])]; });
    distribution_of(sorted, counts, wanted, &of_samples[s * width]);
  });
  return {estimate, drawn};
}

/// Returns the bootstrap sample number `sample`, counted from 0, that `bootstrap` draws from x with this seed. x has no
/// NaN, which `bootstrap` would leave out.
Tensor bootstrap_sample(const Tensor& x, int64_t sample, int64_t seed) {
  const std::vector<double> values = x.to(Dtype::float64).to_vector<double>();
  std::vector<double> drawn(values.size());
  Resampler(seed, values.size()).draw(sample, [&](uint64_t position, uint64_t which) {
    drawn[position] = values[which];
  });
  return Tensor::from(drawn);
}

/// Returns x without its value number `which`, counted from 1.
Tensor leave_out(const Tensor& x, int64_t which) {
  check::index("which", Tensor::from(std::vector<int64_t>{which}), x.entries());
  std::vector<double> values = x.to(Dtype::float64).to_vector<double>();
  values.erase(values.begin() + (which - 1));
  return Tensor::from(values);
}

/// Returns the acceleration: third moment of the jackknife values over the 3/2 power of the second, over 6 (Efron
/// 1987).
double acceleration(const std::vector<double>& jackknife) {
  const double mean = stats::mean(jackknife);
  double square = 0, cube = 0;
  for (const double v : jackknife) {
    square += (mean - v) * (mean - v);
    cube += (mean - v) * (mean - v) * (mean - v);
  }
  return square > 0 ? cube / (6 * std::pow(square, 1.5)) : 0;
}

/// Returns the quantile level of an interval's end, corrected for bias and acceleration (Efron 1987).
double corrected(double share, double below, double a) {
  const boost::math::normal standard;
  if (!(below > 0 && below < 1) || std::isnan(a)) return undefined;
  const double z0 = boost::math::quantile(standard, below), z = z0 + boost::math::quantile(standard, share);
  return boost::math::cdf(standard, z0 + z / (1 - a * z));
}

/// Returns the distance at which a sample's statistic counts as equal to the estimate, because of rounding.
double equal_within(const std::vector<double>& sorted, double estimate) {
  const double farthest = std::max(sorted.back() - estimate, estimate - sorted.front());
  return stats::tolerance * farthest + 0x1p-46 * std::max(std::fabs(sorted.front()), std::fabs(sorted.back()));
}

/// Returns the ends of the bootstrap interval, and the standard deviation of the samples. Without jackknife values, it
/// is the percentile interval.
std::tuple<double, double, double> bootstrap_interval(const Tensor& samples, double estimate, const Tensor& jackknife,
                                                      double level) {
  if (!(level > 0 && level < 1))
    throw ArgumentError("level", number_text(level) + ", expected a number above 0 and below 1");
  std::vector<double> sorted = samples.to(Dtype::float64).to_vector<double>();
  const double error = stats::standard_deviation(sorted);
  if (sorted.empty() || std::isnan(estimate) ||
      std::any_of(sorted.begin(), sorted.end(), [](double v) { return std::isnan(v); }))
    return {undefined, undefined, undefined};
  stats::sort(sorted);
  double low = 0.5 * (1 - level), high = 1 - low;
  if (jackknife.entries() > 0) {
    // For the bias correction, a bootstrap sample whose statistic equals the estimate counts one half as below it.
    const double apart = equal_within(sorted, estimate);
    const auto first = std::lower_bound(sorted.begin(), sorted.end(), estimate - apart);
    const auto last = std::upper_bound(sorted.begin(), sorted.end(), estimate + apart);
    const double below = 0.5 * static_cast<double>((first - sorted.begin()) + (last - sorted.begin())) /
                         static_cast<double>(sorted.size());
    const double a = acceleration(jackknife.to(Dtype::float64).to_vector<double>());
    low = corrected(low, below, a);
    high = corrected(high, below, a);
  }
  return {stats::sorted_quantile(sorted, low), stats::sorted_quantile(sorted, high), error};
}

/// Returns the values without NaN, and the number of NaNs.
std::tuple<Tensor, int64_t> without_nan(const Tensor& x) {
  const stats::Sample sample("x", x);
  return {Tensor::from(sample.values), sample.skipped};
}

/// Returns index, counted from 1, and value of the first entry with absolute value above `size`.
std::tuple<std::optional<int64_t>, std::optional<double>> first_beyond(const Tensor& x, double size) {
  const std::vector<double> values = x.to(Dtype::float64).to_vector<double>();
  const auto found = std::find_if(values.begin(), values.end(), [&](double v) { return std::fabs(v) > size; });
  if (found == values.end()) return {std::nullopt, std::nullopt};
  return {found - values.begin() + 1, *found};
}

std::tuple<Tensor, Tensor, int64_t> complete_pairs(const Tensor& a, const Tensor& b) {
  const stats::Pairs pairs("a", a, "b", b);
  return {Tensor::from(pairs.a), Tensor::from(pairs.b), pairs.skipped};
}

}  // namespace

extern const lua::OpTable resampling_functions{
    lua::OpTable::functions,
    nullptr,
    {
        lua::op<&permutation>("permutation_test", "a, b, orders, seed",
                              "Sign-flip test of paired values. `error` is the Monte Carlo error of p."),
        lua::op<&bootstrap>(
            "bootstrap", "x, statistic, samples, seed",
            "A statistic of the values, of samples with replacement, and of the values without each one."),
        lua::op<&values_distribution>("values_distribution", "x, shares, samples, seed",
                                      "Mean, worst tenth, tail, Gini coefficient and quantiles, and those of samples."),
        lua::op<&bootstrap_sample>("bootstrap_sample", "x, sample, seed",
                                   "One sample with replacement; samples count from 0."),
        lua::op<&leave_out>("leave_out", "x, which", "The values without one of them."),
        lua::op<&bootstrap_interval>(
            "bootstrap_interval", "samples, estimate, jackknife, level",
            "Low and high end of the interval, and the standard error. Percentile interval if the jackknife is empty."),
        lua::op<&without_nan>("without_nan", "x", "The values without NaN, and the number of NaNs."),
        lua::op<&first_beyond>("first_beyond", "x, size",
                               "Index and value of the first entry with absolute value above `size`, or nil."),
        lua::op<&complete_pairs>("complete_pairs", "a, b", "The pairs without NaN, and the number of pairs with NaN."),
    }};

}  // namespace mr
