// Tests of random rankings: with every instruction set, the rankings of a plain loop are drawn, and all arrangements
// are equally likely.
#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/bounds/sample_rankings_cpu.h"
#include "tests/support/simd_forms.h"

using namespace mr;

namespace {

auto all_forms() { return simd_forms<cpu::SampleLoops>(); }

/// Returns what a relevant row at rank r adds to the metric, if it is relevant row number `found` from the top.
double added(const RankingSampler& s, int64_t r, double found) {
  if (s.increment == Increment::average_precision) return found * s.d[r];
  return s.increment == Increment::linear || found == 1 ? s.d[r] : 0;
}

/// Draws one ranking by weights and returns its metric. At each rank, the random number selects a row by its share of
/// the total weight of the rows that are left; rows of the highest gain come first in that sum.
double plain_weighted(const RankingSampler& s, uint64_t sample) {
  const bool graded = s.increment == Increment::graded;
  std::vector<double> left, gain, weight(s.weight, s.weight + (graded ? s.levels : 1));
  for (int64_t c = 0; c < s.levels; ++c) {
    left.push_back(static_cast<double>(s.at_least[c] - (c > 0 ? s.at_least[c - 1] : 0)));
    gain.push_back(0);
    for (double& g : gain) g += s.step[c];
  }
  if (!graded) left = {static_cast<double>(s.p)};
  double others = static_cast<double>(s.n), found = 0, total = 0;
  for (const double rows : left) others -= rows;
  for (int64_t r = 0; r < s.n; ++r) {
    const double word = philox(s.key, sample, static_cast<uint64_t>(r / 4)).word[r % 4];
    double all = 0, reached = 0;
    for (size_t c = 0; c < left.size(); ++c) all += left[c] * weight[c];
    const double place = (word + 0.5) / 4294967296.0 * (all + others);
    size_t c = 0;
    while (c < left.size() && place >= (reached += left[c] * weight[c])) ++c;
    (c < left.size() ? left[c] : others) -= 1;
    if (c == left.size()) continue;
    total += graded ? gain[c] * s.d[r] : added(s, r, ++found);
  }
  return total;
}

/// Draws one ranking rank by rank, each row equally likely, and returns its metric.
double plain(const RankingSampler& s, uint64_t sample) {
  int64_t wanted = s.p;
  std::vector<int64_t> levels(s.at_least, s.at_least + s.levels);
  double found = 0, total = 0;
  for (int64_t r = 0; r < s.n; ++r) {
    const uint64_t bits = philox(s.key, sample, static_cast<uint64_t>(r / 4)).word[r % 4];
    const auto place = static_cast<int64_t>((bits * static_cast<uint64_t>(s.n - r)) >> 32);
    double gain = 0;
    for (int64_t c = 0; c < s.levels; ++c) {
      if (place >= levels[c]) continue;
      --levels[c];
      gain += s.step[c];
    }
    if (s.increment == Increment::graded) total += gain * s.d[r];
    if (s.increment == Increment::graded || place >= wanted) continue;
    --wanted;
    total += added(s, r, ++found);
  }
  return total;
}

RankingSampler weighted(RankingSampler s, double beta) {
  s.weighted = true;
  for (int64_t c = 0; c < most_levels; ++c) s.weight[c] = std::exp(beta * static_cast<double>(c + 1));
  return s;
}

RankingSampler graded(RankingSampler s, const std::vector<std::pair<int64_t, double>>& levels) {
  s.increment = Increment::graded;
  for (const auto& [rows, step] : levels) {
    s.at_least[s.levels] = rows;
    s.step[s.levels++] = step;
  }
  return s;
}

/// Returns how often each value of the metric occurs among the samples.
std::map<double, int64_t> counted(const RankingSampler& s, int64_t samples) {
  std::vector<double> values(static_cast<size_t>(samples));
  cpu::sample_rankings(s, 0, samples, values.data());
  std::map<double, int64_t> counts;
  for (const double x : values) ++counts[x];
  return counts;
}

/// Checks that `counts` has exactly `kinds` different values, and that each occurred equally often, to five standard
/// deviations.
void equally_often(const std::map<double, int64_t>& counts, size_t kinds, int64_t samples) {
  CHECK(counts.size() == kinds);
  const double share = 1 / static_cast<double>(kinds), total = static_cast<double>(samples);
  for (const auto& [value, count] : counts) {
    INFO("value " << value);
    CHECK(std::fabs(static_cast<double>(count) - total * share) < 5 * std::sqrt(total * share * (1 - share)));
  }
}

}  // namespace

TEST_CASE("SampleLoops draw the same bits as a plain loop with every instruction set") {
  for (const int64_t n : {1, 2, 3, 31, 32, 33, 127, 128, 129, 1000}) {
    std::vector<double> d(static_cast<size_t>(n));
    for (int64_t r = 0; r < n; ++r) d[r] = 1 / (static_cast<double>(r) + 1.37);
    std::vector<RankingSampler> samplers;
    for (const int64_t p : {int64_t{0}, int64_t{1}, n / 3, n}) {
      for (const Increment kind : {Increment::linear, Increment::average_precision, Increment::first})
        samplers.push_back({n, p, kind, d.data(), random_key(5, "rankings")});
    }
    const RankingSampler empty{n, 0, Increment::graded, d.data(), random_key(5, "rankings")};
    samplers.push_back(graded(empty, {{n, 0.5}}));
    if (n >= 31) {
      samplers.push_back(graded(empty, {{4, 4}, {9, 2}, {20, 1}}));
      samplers.push_back(graded(empty, {{1, 8}, {2, 7}, {3, 6}, {4, 5}, {5, 4}, {6, 3}, {7, 2}, {n, 1}}));
    }
    for (size_t i = 0, even = samplers.size(); i < even; ++i) {
      for (const double beta : {-2.0, 0.5, 40.0}) samplers.push_back(weighted(samplers[i], beta));
    }
    for (const RankingSampler& s : samplers) {
      INFO("n " << n << " p " << s.p << " kind " << static_cast<int>(s.increment) << " levels " << s.levels
                << " weight " << s.weight[0]);
      std::vector<double> expected;
      for (uint64_t i = 0; i < 32; ++i) expected.push_back((s.weighted ? plain_weighted : plain)(s, 16 + i));
      for (const auto& [name, form] : all_forms()) {
        INFO(name);
        std::vector<double> found(32);
        form.sample(s, 16, 32, found.data());
        CHECK(found == expected);
      }
    }
  }
}

TEST_CASE("SampleSeveralLoops give each metric the same bits as drawing it alone") {
  const Increment kinds[] = {Increment::linear, Increment::average_precision, Increment::first};
  for (const int64_t n : {1, 3, 63, 64, 65, 130, 1000}) {
    std::vector<std::vector<double>> d(cpu::most_several, std::vector<double>(static_cast<size_t>(n)));
    for (size_t m = 0; m < d.size(); ++m) {
      for (int64_t r = 0; r < n; ++r) d[m][r] = 1 / (static_cast<double>(r + 1) + 0.37 * static_cast<double>(m));
    }
    for (const int64_t p : {int64_t{0}, int64_t{1}, n / 3, n}) {
      std::vector<RankingSampler> samplers;
      for (size_t m = 0; m < d.size(); ++m) samplers.push_back({n, p, kinds[m % 3], d[m].data(), random_key(5, "r")});
      for (const auto& [name, form] : simd_forms<cpu::SampleSeveralLoops>()) {
        INFO("n " << n << " p " << p << " " << name);
        std::vector<std::vector<double>> found(samplers.size(), std::vector<double>(64, -1.0));
        std::vector<double*> out;
        for (std::vector<double>& of : found) out.push_back(of.data());
        form.sample(samplers.data(), static_cast<int64_t>(samplers.size()), 16, 32, out.data());
        for (size_t m = 0; m < samplers.size(); ++m) {
          std::vector<double> expected(64, -1.0);
          for (uint64_t i = 16; i < 48; ++i) expected[i] = plain(samplers[m], i);
          CHECK(found[m] == expected);
        }
      }
    }
  }
}

TEST_CASE("sample_rankings draws every set of ranks with the same probability") {
  const std::vector<double> powers{1, 2, 4, 8, 16, 32};
  const int64_t samples = 160000;
  equally_often(counted({5, 2, Increment::linear, powers.data(), random_key(1, "sets")}, samples), 10, samples);
  equally_often(counted({6, 3, Increment::linear, powers.data(), random_key(2, "sets")}, samples), 20, samples);
  equally_often(counted({6, 1, Increment::first, powers.data(), random_key(3, "sets")}, samples), 6, samples);
}

TEST_CASE("sample_rankings draws every arrangement of gains with the same probability") {
  const std::vector<double> powers{1, 10, 100, 1000};
  const int64_t samples = 160000;
  const RankingSampler empty{4, 0, Increment::graded, powers.data(), random_key(1, "gains")};
  equally_often(counted(graded(empty, {{1, 2}, {3, 1}}), samples), 12, samples);          // 3, 1, 1, 0
  equally_often(counted(graded(empty, {{1, 1}, {2, 1}, {4, 1}}), samples), 12, samples);  // 3, 2, 1, 1
  equally_often(counted(graded(empty, {{1, 1}, {2, 1}, {3, 1}}), samples), 24, samples);  // 3, 2, 1, 0
}

TEST_CASE("sample_rankings with weights draws arrangements with the probabilities of drawing row by row") {
  const std::vector<double> powers{1, 10, 100, 1000};
  const int64_t samples = 160000;
  const RankingSampler empty{4, 0, Increment::graded, powers.data(), random_key(1, "gains")};
  RankingSampler s = graded(empty, {{1, 2}, {3, 1}});  // 3, 1, 1, 0
  s.weighted = true;
  s.weight[0] = 5;
  s.weight[1] = 0.5;
  std::vector<double> gain{3, 1, 1, 0}, weight{5, 0.5, 0.5, 1};
  std::vector<size_t> order{0, 1, 2, 3};
  std::map<double, double> chance;
  do {
    double left = 7, product = 1, value = 0;
    for (size_t r = 0; r < 4; ++r) {
      product *= weight[order[r]] / left;
      left -= weight[order[r]];
      value += gain[order[r]] * powers[r];
    }
    chance[value] += product;
  } while (std::next_permutation(order.begin(), order.end()));
  const std::map<double, int64_t> counts = counted(s, samples);
  CHECK(counts.size() == chance.size());
  for (const auto& [value, count] : counts) {
    INFO("value " << value);
    const double expected = static_cast<double>(samples) * chance[value];
    CHECK(std::fabs(static_cast<double>(count) - expected) < 5 * std::sqrt(expected));
  }
}
