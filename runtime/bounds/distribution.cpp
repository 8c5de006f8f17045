#include "runtime/bounds/distribution.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "runtime/bounds/samples/sort_numbers.h"

namespace mr {
namespace {

/// If steepness times the distance from a value is larger than this, the value's sigmoid counts as 0 or 1, which it is
/// in double precision.
constexpr double reach = 37;
constexpr size_t most_bins = 4096;

bool one_value(double x, double y) { return y - x <= 1e-12 * std::max(1.0, std::fabs(y)); }

}  // namespace

Distribution::Distribution(std::vector<double> values) {
  if (values.empty()) throw std::invalid_argument("a distribution needs at least one value");
  if (values.size() > std::numeric_limits<uint32_t>::max())
    throw std::length_error("a distribution of " + std::to_string(values.size()) +
                            " values, expected at most 2^32 - 1");
  sort_numbers(values);
  auto& [distinct, before, total, mean, sd] = counted_;
  total = static_cast<int64_t>(values.size());
  const auto count = static_cast<double>(total);
  for (const double x : values) mean += x / count;
  double square = 0;
  for (const double x : values) square += (x - mean) * (x - mean) / count;
  sd = std::sqrt(square);
  size_t kinds = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    if (kinds > 0 && one_value(values[kinds - 1], values[i])) {
      // This is the first repeated value. `before`, which counts the values before each distinct one, was empty because
      // all values so far occurred once. It is filled for them now.
      if (before.empty()) {
        before.resize(kinds);
        std::iota(before.begin(), before.end(), uint32_t{0});
      }
      continue;
    }
    if (!before.empty()) before.push_back(static_cast<uint32_t>(i));
    values[kinds++] = values[i];
  }
  if (!before.empty()) before.push_back(static_cast<uint32_t>(values.size()));
  values.resize(kinds);
  if (kinds < values.capacity() / 2) values.shrink_to_fit();
  distinct = std::move(values);
}

Distribution::Distribution(const Atoms& atoms) {
  if (atoms.values.empty()) throw std::invalid_argument("a distribution needs at least one value");
  std::vector<size_t> order(atoms.values.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return atoms.values[a] < atoms.values[b]; });
  for (const size_t i : order) {
    if (counted_.distinct.empty() || !one_value(counted_.distinct.back(), atoms.values[i])) {
      counted_.distinct.push_back(atoms.values[i]);
      weights_.push_back(0);
    }
    weights_.back() += atoms.weights[i];
  }
  below_.push_back(0);
  for (size_t i = 0; i < values().size(); ++i) {
    below_.push_back(below_.back() + weights_[i]);
    counted_.mean += counted_.distinct[i] * weights_[i];
  }
  double square = 0;
  for (size_t i = 0; i < values().size(); ++i)
    square += (values()[i] - counted_.mean) * (values()[i] - counted_.mean) * weights_[i];
  counted_.sd = std::sqrt(square);
}

double Distribution::below(size_t i) const {
  if (!below_.empty()) return std::min(1.0, below_[i]);
  return static_cast<double>(counted_.before.empty() ? i : counted_.before[i]) / static_cast<double>(counted_.total);
}

int64_t Distribution::bytes() const {
  return static_cast<int64_t>((values().capacity() + weights_.capacity() + below_.capacity()) * sizeof(double) +
                              counted_.before.capacity() * sizeof(uint32_t));
}

double Distribution::cdf(double s) const {
  // Values that are one value up to rounding count as s: 3 / 5 is not the sum of three times 1 / 5.
  auto after = std::upper_bound(values().begin(), values().end(), s);
  while (after != values().end() && one_value(s, *after)) ++after;
  // The sum of all probabilities may differ from 1 by rounding.
  return after == values().end() ? 1 : below(static_cast<size_t>(after - values().begin()));
}

double Distribution::quantile(double q) const {
  if (!(q >= 0 && q <= 1)) throw ArgumentError("q", number_text(q) + ", expected 0 to 1");
  size_t low = 0, high = values().size() - 1;
  while (low < high) {
    const size_t middle = (low + high) / 2;
    if (below(middle + 1) >= q - 1e-15) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return values()[low];
}

Smoothed Distribution::smooth(double s, double steepness) const {
  if (values().size() == 1) return {0.5, 0};
  const auto first = std::lower_bound(values().begin(), values().end(), s - reach / steepness) - values().begin();
  Smoothed out{below(static_cast<size_t>(first)), 0};
  for (auto i = static_cast<size_t>(first); i < values().size() && values()[i] <= s + reach / steepness; ++i) {
    const double sigma = logistic(steepness * (s - values()[i])), weight = probability(i);
    out.value += weight * sigma;
    out.derivative += weight * steepness * sigma * logistic(-steepness * (s - values()[i]));
  }
  return out;
}

/// Makes the table of the smoothed distribution function. If there are many values, they are put into bins of equal
/// width first, and each bin is represented by the mean of its values. The error is of second order in width *
/// steepness.
LogitTable Distribution::table(double steepness) const {
  std::vector<double> at, weights;
  if (values().size() <= most_bins) {
    for (size_t i = 0; i < values().size(); ++i) weights.push_back(probability(i));
    return {values(), weights, steepness};
  }
  const double width = (max() - min()) / static_cast<double>(most_bins);
  size_t bin = most_bins;
  for (size_t i = 0; i < values().size(); ++i) {
    const size_t own = std::min(most_bins - 1, static_cast<size_t>((values()[i] - min()) / width));
    if (own != bin) {
      at.push_back(0);
      weights.push_back(0);
      bin = own;
    }
    at.back() += probability(i) * values()[i];
    weights.back() += probability(i);
  }
  for (size_t b = 0; b < at.size(); ++b) at[b] /= weights[b];
  return {at, weights, steepness};
}

}  // namespace mr
