// Compares exact distributions of metrics with all arrangements of the relevant rows. An arrangement is a bit mask: bit
// r is set if the row at rank r + 1 is relevant.
#include "runtime/bounds/spectrum.h"

#include <bit>
#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>

#include "kernels/bounds/characteristic.h"
#include "kernels/ranking/discount.h"
#include "runtime/bounds/moments.h"
#include "runtime/bounds/ranking_recursion.h"
#include "runtime/bounds/smooth_cdf.h"
#include "tests/support/devices.h"
#include "tests/support/smoothed_sum.h"

using namespace mr;

namespace {

/// Returns the metric of a ranking. Bit r of `relevant` is 1 if the row at rank r + 1 is relevant.
double metric_of(const std::string& name, uint32_t relevant, int n, int p) {
  double sum = 0, ideal = 0, first = 0;
  int found = 0;
  for (int r = 1; r <= n; ++r) {
    if (r <= p) ideal += discount(r);
    if (((relevant >> (r - 1)) & 1) == 0) continue;
    ++found;
    if (first == 0) first = 1.0 / r;
    if (name == "ndcg") sum += discount(r);
    if (name == "ap") sum += static_cast<double>(found) / r;
    if (name == "nrbp_loss") sum += r - found;
    if (name == "rbp(0.8)") sum += 0.2 * std::pow(0.8, r - 1);
  }
  if (name == "ndcg") return sum / ideal;
  if (name == "ap") return sum / p;
  return name == "rr" ? first : sum;
}

std::vector<double> enumerated(const std::string& name, int n, int p) {
  std::vector<double> values;
  for (uint32_t bits = 0; bits < (1U << n); ++bits) {
    if (std::popcount(bits) == p) values.push_back(metric_of(name, bits, n, p));
  }
  return values;
}

}  // namespace

TEST_CASE("Spectrum and its table agree with the sum over all arrangements of relevant rows") {
  for (const auto& [n, p] :
       std::vector<std::pair<int, int>>{{2, 1}, {3, 1}, {5, 4}, {8, 1}, {10, 3}, {15, 5}, {18, 12}, {20, 6}}) {
    for (const std::string name : {"ndcg", "ap", "nrbp_loss", "rbp(0.8)"}) {
      const std::vector<double> values = enumerated(name, n, p);
      const Distribution all(values);
      for (const double kappa : {8.0, 20.0}) {
        const double steepness = kappa / all.sd();
        const Spectrum spectrum(to_metric(name), {n, p, {}}, steepness);
        const LogitTable table(spectrum);
        double worst = 0, worst_slope = 0, table_worst = 0, table_slope = 0;
        for (int i = -10; i <= 60; ++i) {
          const double s = all.min() + (all.max() - all.min()) * i / 50;
          const Smoothed expected = test::smoothed_sum(values, steepness, s), found = spectrum.at(s),
                         read = table.at(s);
          worst = std::max(worst, std::fabs(found.value - expected.value));
          worst_slope = std::max(worst_slope, std::fabs(found.derivative - expected.derivative) * all.sd());
          table_worst = std::max(table_worst, std::fabs(read.value - expected.value));
          table_slope = std::max(table_slope, std::fabs(read.derivative - expected.derivative) * all.sd());
        }
        INFO(name << " N=" << n << " P=" << p << " kappa=" << kappa);
        CHECK(worst < 1e-9);
        CHECK(worst_slope < 1e-8);
        CHECK(table_worst < 2e-6);
        CHECK(table_slope < 3e-4);
      }
    }
  }
}

TEST_CASE("RankingRecursion agrees with the plain recursion that a GPU runs") {
  struct Case {
    std::string metric;
    ListShape shape;
  };
  for (const auto& [name, shape] : std::vector<Case>{{"ndcg", {2, 1, {}}},
                                                     {"ndcg", {60, 20, {}}},
                                                     {"ndcg", {40, 37, {}}},
                                                     {"ap", {60, 20, {}}},
                                                     {"ap", {33, 32, {}}},
                                                     {"ap", {1000, 250, {}}},
                                                     {"rbp(0.8)", {129, 31, {}}},
                                                     {"nrbp_loss", {30, 12, {}}},
                                                     {"ndcg", {60, 20, {}, 2}},
                                                     {"ndcg", {40, 37, {}, 0.5}},
                                                     {"ap", {33, 32, {}, -1}},
                                                     {"ap", {1000, 250, {}, 1}},
                                                     {"nrbp_loss", {129, 31, {}, -1}}}) {
    const Metric metric = to_metric(name);
    const double steepness = 8 / std::sqrt(bound_stats(metric, shape, true).variance);
    const Increments add = increments_of(metric, shape);
    RankingRecursion fast(add, shape, Device::cpu);
    const double step = steepness / 40;
    fast.set_step(step);
    const bool cumulative = name == "ap";
    const Increase increase = increase_of(shape, add.kind);
    const int64_t p = increase.rows[0];
    // the recursion is run here over all possible numbers of relevant rows above each rank, also over unlikely numbers,
    // which the fast form skips
    std::vector<int32_t> low, high;
    std::vector<double> angle;
    for (int64_t r = 0; r < shape.n; ++r) {
      low.push_back(static_cast<int32_t>(std::max<int64_t>(0, p - (shape.n - 1 - r))));
      high.push_back(static_cast<int32_t>(std::min(r + 1, p)));
      angle.push_back(step * add.scale * increase.gain[0] * add.d[static_cast<size_t>(r)]);
    }
    constexpr int64_t count = 48;
    std::vector<double> state(static_cast<size_t>((p + 2) * 2 * count)), re(count), im(count);
    const CharacteristicFunction<double> plain{shape.n,
                                               p,
                                               increase.weight[0],
                                               cumulative,
                                               {low.data(), shape.n},
                                               {high.data(), shape.n},
                                               {angle.data(), shape.n},
                                               1,
                                               count,
                                               {state.data(), static_cast<int64_t>(state.size())},
                                               {re.data(), count},
                                               {im.data(), count}};
    double worst = 0;
    for (int64_t k = 0; k < count; k += cpu::frequency_lanes) {
      double x[cpu::frequency_lanes], y[cpu::frequency_lanes];
      fast.next(x, y);
      for (int64_t j = 0; j < cpu::frequency_lanes; ++j) {
        plain(k + j);
        worst = std::max({worst, std::fabs(x[j] - re[k + j]), std::fabs(y[j] - im[k + j])});
      }
    }
    INFO(name << " N=" << shape.n << " P=" << shape.p << " beta=" << shape.beta);
    CHECK(worst < 1e-12);
  }
}

TEST_CASE("Spectrum::of gives many shapes on the GPU the series that each gets on the CPU", "[gpu]") {
  if (!test::has(Device::cuda)) return;
  const auto* const name = GENERATE("ap", "ndcg", "nrbp(0.9)", "nrbp_loss");
  const double kappa = GENERATE(2, 60);  // a small kappa needs one kernel launch, a large one several
  const double beta = GENERATE(0.0, 1.5);
  const Metric metric = to_metric(name);
  std::vector<ListShape> shapes;
  std::vector<double> steepnesses;
  for (const int64_t n : {2, 3, 20, 33, 60}) {
    for (const int64_t p : {1, 2, 19, 31}) {
      if (p >= n) continue;
      shapes.push_back({n, p, {}, beta});
      steepnesses.push_back(kappa / moments_of(metric, shapes.back()).sd);
    }
  }
  const std::vector<Spectrum> together = Spectrum::of(metric, shapes, steepnesses, Device::cuda);
  REQUIRE(together.size() == shapes.size());
  double worst = 0;
  for (size_t i = 0; i < shapes.size(); ++i) {
    const Spectrum alone(metric, shapes[i], steepnesses[i]);
    CHECK(together[i].terms() == alone.terms());
    const BoundStats stats = bound_stats(metric, shapes[i], true);
    for (int k = 0; k <= 10; ++k) {
      const double s = stats.min + (stats.max - stats.min) * k / 10;
      worst = std::max(worst, std::fabs(together[i].at(s).value - alone.at(s).value));
    }
  }
  CHECK(worst < 1e-11);
}

TEST_CASE("tables of exact distributions are monotone and within 2e-6 of the sum over all values") {
  for (const auto& [n, p] : std::vector<std::pair<int64_t, int64_t>>{
           {2, 1}, {3, 1}, {5, 4}, {8, 1}, {10, 3}, {15, 5}, {24, 8}, {60, 3}, {200, 2}, {100, 1}, {40, 38}}) {
    for (const std::string name : {"ndcg", "ap", "nrbp_loss"}) {
      const Metric metric = to_metric(name);
      const Distribution all(atoms_of(metric, {n, p, {}}));
      for (const double kappa : {8.0, 20.0}) {
        const double steepness = kappa / all.sd();
        const Spectrum spectrum(metric, {n, p, {}}, steepness);
        const LogitTable table(spectrum);
        double worst = 0, slope = 0, exact = 0;
        for (int i = -1; i <= 14; ++i) {
          const double s = all.min() + (all.max() - all.min()) * (i + 0.37) / 13;
          const Smoothed expected = all.smooth(s, steepness), found = table.at(s);
          worst = std::max(worst, std::fabs(found.value - expected.value));
          slope = std::max(slope, std::fabs(found.derivative - expected.derivative) * all.sd());
          exact = std::max(exact, std::fabs(spectrum.at(s).value - expected.value));
        }
        INFO(name << " N=" << n << " P=" << p << " kappa=" << kappa);
        CHECK(worst < 2e-6);
        CHECK(slope < 3e-4);
        CHECK(exact < 1e-9);
        double before = -1;
        for (int i = 0; i <= 5000; ++i) {
          const Smoothed at = table.at(all.min() - all.sd() + (all.max() - all.min() + 2 * all.sd()) * i / 5000);
          if (at.value < before || at.derivative < 0) FAIL("falls at " << i);
          before = at.value;
        }
      }
    }
  }
}

TEST_CASE("atoms_of lists every value of a metric with its probability") {
  for (const auto& [n, p] : std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {7, 3}, {16, 1}, {16, 15}, {18, 6}}) {
    for (const std::string name : {"ndcg", "ap", "nrbp_loss", "rbp(0.8)", "rr"}) {
      const Distribution expected(enumerated(name, n, p)), found(atoms_of(to_metric(name), {n, p, {}}));
      INFO(name << " N=" << n << " P=" << p);
      REQUIRE(found.values().size() == expected.values().size());
      double total = 0;
      for (size_t i = 0; i < found.values().size(); ++i) {
        total += found.probability(i);
        if (std::fabs(found.values()[i] - expected.values()[i]) > 1e-12) FAIL("value " << i);
        if (std::fabs(found.probability(i) - expected.probability(i)) > 1e-12) FAIL("probability " << i);
      }
      CHECK(std::fabs(total - 1) < 1e-12);
    }
  }
}

TEST_CASE("inversions_pmf has the symmetry and variance of Mann-Whitney's U, and throws for long lists") {
  for (const auto& [n, p] : std::vector<std::pair<int, int>>{{10, 3}, {60, 20}, {600, 300}, {1000, 250}}) {
    const std::vector<double> pmf = inversions_pmf({p, n - p});
    const double pairs = static_cast<double>(p) * (n - p);
    double total = 0, square = 0;
    for (size_t u = 0; u < pmf.size(); ++u) {
      total += pmf[u];
      square += pmf[u] * (static_cast<double>(u) - pairs / 2) * (static_cast<double>(u) - pairs / 2);
      if (pmf[u] != pmf[pmf.size() - 1 - u]) FAIL("not symmetric at " << u);
    }
    INFO(n << " " << p);
    CHECK(std::fabs(total - 1) < 1e-12);
    CHECK(square == Approx(pairs * (n + 1) / 12).epsilon(1e-10));
  }
  CHECK_THROWS(inversions_pmf({1000, 1000}));
  const Metric loss = to_metric("nrbp_loss");
  CHECK(has_atoms(loss, {600, 300, {}}));
  CHECK(!has_atoms(loss, {1000, 500, {}}));
  const RankingDistribution long_list(loss, {1000, 500, {}}, {});
  CHECK(std::string(long_list.method()) == "characteristic function");
  CHECK(long_list.cdf(125000) == Approx(0.5).margin(1e-4));
}

TEST_CASE("the closed form of the nRBP loss agrees with the recursion over ranks") {
  const Metric loss = to_metric("nrbp_loss");
  // 50 relevant rows x 150 others = 7,500 pairs: enough for Spectrum to use the closed form
  const Distribution listed(atoms_of(loss, {200, 50, {}}));
  const double steepness = 8 / listed.sd();
  const Spectrum spectrum(loss, {200, 50, {}}, steepness);
  for (double z = -6; z <= 6; z += 0.37) {
    const double s = listed.mean() + z * listed.sd();
    CHECK(spectrum.at(s).value == Approx(listed.smooth(s, steepness).value).margin(1e-11));
  }
}

TEST_CASE("the distribution of graded nDCG agrees with all orders, and is sampled with 40 different grades") {
  const Metric ndcg = to_metric("ndcg");
  for (std::vector<float> grades :
       {std::vector<float>{2, 1, 0}, {3, 2, 2, 1, 0, 0, 0, 0}, {2, 2, 1, 1, 1}, {1, 1, 1, 3, 0, 0, 2}}) {
    const ListShape shape = shape_of(ndcg, grades.data(), static_cast<int64_t>(grades.size()));
    std::sort(grades.begin(), grades.end(), std::greater<>());
    std::vector<double> values, gains;
    for (const float y : grades) gains.push_back(gain_of(y));
    double ideal = 0;
    for (size_t r = 0; r < gains.size(); ++r) ideal += gains[r] * discount(static_cast<double>(r) + 1);
    do {
      double sum = 0;
      for (size_t r = 0; r < gains.size(); ++r) sum += gains[r] * discount(static_cast<double>(r) + 1);
      values.push_back(sum / ideal);
    } while (std::prev_permutation(gains.begin(), gains.end()));
    const Distribution all(values), listed(atoms_of(ndcg, shape));
    CHECK(listed.values().size() == all.values().size());
    CHECK(listed.sd() == Approx(all.sd()).epsilon(1e-12));
    const Spectrum spectrum(ndcg, shape, 8 / all.sd());
    for (double s = all.min() - 0.1; s < 1.1; s += 0.013) {
      CHECK(spectrum.at(s).value == Approx(test::smoothed_sum(values, 8 / all.sd(), s).value).margin(1e-9));
    }
  }
  std::vector<float> different(40);
  std::iota(different.begin(), different.end(), 0.0F);
  for (float& y : different) y /= 10;
  const ListShape many = shape_of(ndcg, different.data(), 40);
  CHECK(!has_spectrum(ndcg, many));
  CHECK(std::string(RankingDistribution(ndcg, many, {Method::automatic, 1000, 1}).method()) == "sampled");
  CHECK_THROWS_WITH(RankingDistribution(ndcg, many, {Method::exact, 1000, 1}), Catch::Matchers::Contains("'exact'"));
}

TEST_CASE("exact distributions of long lists agree with 300,000 samples") {
  for (const auto& [n, p] : std::vector<std::pair<int64_t, int64_t>>{{60, 20}, {200, 150}, {400, 100}, {1000, 3}}) {
    for (const std::string name : {"ndcg", "ap", "nrbp_loss", "nrbp(0.95)", "ndcg@10", "ndcg@40", "recall@7"}) {
      // skipped: with three relevant rows, the exact smoothed distribution blurs most values of RBP into one
      if (p == 3 && name == "nrbp(0.95)") continue;
      const Metric metric = to_metric(name);
      const RankingDistribution exact(metric, {n, p, {}}, {Method::exact, 1, 1});
      const Distribution sampled(sample_metric(metric, {n, p, {}}, 300000, 1));
      double worst = 0;
      for (double q = 0.01; q < 1; q += 0.03) {
        const double s = sampled.quantile(q) + 1e-9;
        worst = std::max(worst, std::fabs(exact.cdf(s) - sampled.cdf(s)));
      }
      INFO(name << " N=" << n << " P=" << p << " by " << exact.method());
      CHECK(worst < 0.0035);
      CHECK(sampled.mean() == Approx(exact.mean()).margin(4 * exact.sd() / 548));
    }
  }
}
