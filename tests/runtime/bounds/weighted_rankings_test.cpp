// Tests of random rankings by weights: rows are drawn with weights e^(beta grade). The exact distributions of metrics
// are compared with all orders of the rows, each with its Plackett-Luce probability, and with samples drawn here.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <catch2/catch.hpp>

#include "kernels/ranking/discount.h"
#include "runtime/bounds/smooth_cdf.h"
#include "tests/support/devices.h"

using namespace mr;

namespace {

const std::vector<std::string> metrics{"ndcg",      "ap",     "nrbp_loss", "rr",          "rbp(0.8)",
                                       "nrbp(0.9)", "ndcg@2", "ndcg@10",   "precision@2", "recall@3"};

/// Returns the metric `name` of a list whose rows have the grades `ranked`, from the first rank to the last.
double metric_of(const std::string& name, const std::vector<float>& ranked) {
  const size_t k = name.find('@') == std::string::npos ? ranked.size() : std::stoul(name.substr(name.find('@') + 1));
  std::vector<float> ideal = ranked;
  std::sort(ideal.begin(), ideal.end(), std::greater<>());
  double dcg = 0, best = 0, hits = 0, ap = 0, first = 0, wrong = 0, rbp8 = 0, rbp9 = 0, norm9 = 0, relevant = 0;
  for (size_t i = 0; i < ranked.size(); ++i) {
    const auto r = static_cast<double>(i + 1);
    if (i < k) dcg += gain_of(ranked[i]) * discount(r);
    if (i < k) best += gain_of(ideal[i]) * discount(r);
    if (ideal[i] >= 1) norm9 += std::pow(0.9, i);
    if (ranked[i] < 1) continue;
    ++relevant;
    if (i < k) ++hits;
    if (first == 0) first = 1 / r;
    ap += relevant / r;
    wrong += r - relevant;
    rbp8 += 0.2 * std::pow(0.8, i);
    rbp9 += std::pow(0.9, i);
  }
  if (name.substr(0, 4) == "ndcg") return dcg / best;
  if (name == "ap") return ap / relevant;
  if (name == "nrbp_loss") return wrong;
  if (name == "rr") return first;
  if (name == "rbp(0.8)") return rbp8;
  if (name == "nrbp(0.9)") return rbp9 / norm9;
  return name == "precision@2" ? hits / 2 : hits / relevant;
}

/// Returns the metric's value for all orders of the rows, each with its Plackett-Luce probability.
Atoms all_orders(const std::string& name, const std::vector<float>& grades, double beta) {
  std::vector<size_t> order(grades.size());
  std::iota(order.begin(), order.end(), size_t{0});
  Atoms out;
  do {
    std::vector<float> ranked;
    double chance = 1;
    for (size_t r = 0; r < order.size(); ++r) {
      double left = 0;
      for (size_t i = r; i < order.size(); ++i) left += std::exp(beta * grades[order[i]]);
      chance *= std::exp(beta * grades[order[r]]) / left;
      ranked.push_back(grades[order[r]]);
    }
    out.values.push_back(metric_of(name, ranked));
    out.weights.push_back(chance);
  } while (std::next_permutation(order.begin(), order.end()));
  return out;
}

double smoothed(const Atoms& atoms, double steepness, double s) {
  double sum = 0;
  for (size_t i = 0; i < atoms.values.size(); ++i)
    sum += atoms.weights[i] / (1 + std::exp(-steepness * (s - atoms.values[i])));
  return sum;
}

void agrees(const std::string& name, const std::vector<float>& grades, double beta) {
  const Metric metric = to_metric(name);
  const ListShape shape = shape_of(metric, grades.data(), static_cast<int64_t>(grades.size()), beta);
  const Atoms orders = all_orders(name, grades, beta);
  const Distribution expected(orders), listed(atoms_of(metric, shape));
  INFO(name << " of " << grades.size() << " rows, " << shape.p << " relevant, beta " << beta);
  REQUIRE(listed.values().size() == expected.values().size());
  double worst = 0;
  for (size_t i = 0; i < listed.values().size(); ++i) {
    worst = std::max(worst, std::fabs(listed.values()[i] - expected.values()[i]));
    worst = std::max(worst, std::fabs(listed.probability(i) - expected.probability(i)));
  }
  CHECK(worst < 1e-12);
  const Moments moments = moments_of(metric, shape);
  CHECK(moments.mean == Approx(expected.mean()).margin(1e-12));
  CHECK(moments.sd == Approx(expected.sd()).epsilon(1e-9).margin(1e-12));
  if (!has_spectrum(metric, shape) || expected.values().size() == 1) return;
  const double steepness = 8 / expected.sd();
  const Spectrum spectrum(metric, shape, steepness);
  worst = 0;
  for (int i = -3; i <= 43; ++i) {
    const double s = expected.min() + (expected.max() - expected.min()) * i / 40;
    worst = std::max(worst, std::fabs(spectrum.at(s).value - smoothed(orders, steepness, s)));
  }
  CHECK(worst < 1e-9);
}

/// Draws rankings from the Plackett-Luce distribution: rows are sorted by exponential variates divided by their
/// weights.
std::vector<std::vector<float>> drawn(const std::vector<float>& grades, double beta, int64_t samples) {
  std::mt19937_64 random(7);
  std::exponential_distribution<double> exponential;
  std::vector<std::vector<float>> rankings;
  for (int64_t s = 0; s < samples; ++s) {
    std::vector<std::pair<double, float>> rows;
    for (const float y : grades) rows.emplace_back(exponential(random) / std::exp(beta * y), y);
    std::sort(rows.begin(), rows.end());
    rankings.emplace_back();
    for (const auto& [key, y] : rows) rankings.back().push_back(y);
  }
  return rankings;
}

Distribution distribution_of(const std::string& name, const std::vector<std::vector<float>>& rankings) {
  std::vector<double> values;
  for (const auto& ranked : rankings) values.push_back(metric_of(name, ranked));
  return Distribution(values);
}

std::vector<float> binary(int64_t n, int64_t p) {
  std::vector<float> grades(static_cast<size_t>(n), 0.0F);
  std::fill(grades.begin(), grades.begin() + p, 1.0F);
  return grades;
}

/// Returns the largest distance between two distribution functions, at points between the samples' values.
double distance(const RankingDistribution& exact, const Distribution& sampled) {
  double worst = 0;
  for (double q = 0.01; q < 1; q += 0.02) {
    const double x = sampled.quantile(q);
    const auto next = std::upper_bound(sampled.values().begin(), sampled.values().end(), x);
    const double s = next == sampled.values().end() ? x + 1e-9 : (x + *next) / 2;
    worst = std::max(worst, std::fabs(exact.cdf(s) - sampled.cdf(s)));
  }
  return worst;
}

}  // namespace

TEST_CASE("distributions of a weighted ranker agree with all orders and their probabilities") {
  const double beta = GENERATE(-1.0, 0.5, 2.0);
  for (const std::string& name : metrics) {
    for (const auto& [n, p] :
         std::vector<std::pair<int64_t, int64_t>>{{1, 1}, {2, 1}, {3, 2}, {3, 3}, {5, 1}, {6, 3}, {7, 2}, {7, 5}})
      agrees(name, binary(n, p), beta);
  }
  for (const std::vector<float>& grades : std::vector<std::vector<float>>{{2, 1, 0},
                                                                          {3, 2, 2, 1, 0, 0, 0},
                                                                          {2, 2, 1, 1, 1},
                                                                          {1.5F, 0, 0, 0},
                                                                          {2, 2, 0, 0, 0, 0},
                                                                          {0.5F, 4, 1},
                                                                          {2, 2}}) {
    agrees("ndcg", grades, beta);
    agrees("ndcg@2", grades, beta);
  }
}

TEST_CASE("distributions of a weighted ranker of long lists agree with rankings drawn by exponential variates") {
  const double beta = GENERATE(-1.0, 1.0);
  constexpr int64_t samples = 20000;
  for (const auto& [n, p] : std::vector<std::pair<int64_t, int64_t>>{{60, 20}, {100, 25}}) {
    const auto rankings = drawn(binary(n, p), beta, samples);
    for (const std::string& name : metrics) {
      const Metric metric = to_metric(name);
      const ListShape shape{n, p, {}, beta};
      const RankingDistribution exact(metric, shape, {Method::exact, 1, 1});
      INFO(name << " N=" << n << " P=" << p << " beta " << beta << " by " << exact.method());
      CHECK(distance(exact, distribution_of(name, rankings)) < 1.63 / std::sqrt(samples));
      const RankingDistribution sampled(metric, shape, {Method::sampled, 100000, 1});
      CHECK(distance(exact, sampled.listed()) < 1.63 / std::sqrt(100000));
      CHECK(sampled.mean() == Approx(exact.mean()).margin(4 * exact.sd() / 316));
    }
  }
}

TEST_CASE("exact and sampled distributions of a weighted ranker of graded lists agree with drawn rankings") {
  constexpr int64_t samples = 20000;
  std::vector<float> few = binary(60, 20), many(40);
  const auto check_at = [&](const std::vector<float>& grades, const std::string& name) {
    const Metric metric = to_metric(name);
    const ListShape shape = shape_of(metric, grades.data(), static_cast<int64_t>(grades.size()), 0.7);
    const Distribution expected = distribution_of(name, drawn(grades, 0.7, samples));
    const RankingDistribution found(metric, shape, {Method::automatic, samples, 3});
    INFO(name << " " << found.method());
    CHECK(distance(found, expected) < 1.63 * std::sqrt(2.0 / samples));
    CHECK(found.mean() == Approx(expected.mean()).margin(5 * found.sd() / 100));
    CHECK(found.sd() == Approx(expected.sd()).epsilon(0.05));
    const RankingDistribution sampled(metric, shape, {Method::sampled, samples, 4});
    CHECK(distance(sampled, expected) < 1.63 * std::sqrt(2.0 / samples));
  };
  std::fill(few.begin(), few.begin() + 6, 2.0F);
  std::iota(many.begin(), many.end(), 0.0F);
  for (float& y : many) y /= 13;
  for (const std::vector<float>& grades : {few, many}) {
    check_at(grades, "ndcg");
    // for `many` different grades: few metric values, but too many combinations of grades for the exact recursion
    check_at(grades, "ndcg@2");
  }
}

TEST_CASE("RankingDistribution throws if beta is too far from 0, and has finite monotone tables otherwise") {
  for (const std::string name : {"ndcg", "ap", "nrbp_loss", "rr", "precision@1"}) {
    const Metric metric = to_metric(name);
    for (const double beta : {50.0, -50.0, 700.0, -700.0, 1e300, -1e300}) {
      for (const ListShape& shape : {ListShape{2, 1, {}, beta}, {60, 20, {}, beta}, {60, 45, {}, beta}}) {
        INFO(name << " N=" << shape.n << " P=" << shape.p << " beta " << beta);
        for (const Method method : {Method::automatic, Method::sampled})
          CHECK_THROWS_WITH(RankingDistribution(metric, shape, {method, 1000, 1}), Catch::Matchers::Contains("from 0"));
        CHECK_THROWS_WITH(smooth_cdfs(metric, {shape}, {}, {}), Catch::Matchers::Contains("from 0"));
      }
      const RankingDistribution single(metric, {3, 3, {}, beta}, {});
      CHECK(std::isfinite(single.mean()));
    }
  }
  for (const double beta : {1e-300, 1e-9, 3.0, -3.0, 7.0}) {
    for (const std::string name : {"ndcg", "ap", "nrbp_loss"}) {
      const RankingDistribution d(to_metric(name), {100, 40, {}, beta}, {});
      double before = -1;
      for (int i = -5; i <= 105; ++i) {
        const Smoothed at = d.table({})->at(d.min() + (d.max() - d.min()) * i / 100);
        INFO(name << " beta " << beta << " i " << i);
        CHECK((std::isfinite(at.derivative) && at.derivative >= 0 && at.value >= before));
        before = at.value;
      }
      CHECK(before > 0.99);
    }
  }
}

TEST_CASE("smooth_cdfs reuses a table only for the same beta") {
  const Metric ndcg = to_metric("ndcg");
  const auto table = [&](double beta) {
    return std::get<std::shared_ptr<const LogitTable>>(*smooth_cdfs(ndcg, {{50, 20, {}, beta}}, {}, {})[0]);
  };
  CHECK(table(1) == table(1));
  CHECK(table(1) != table(2));
  CHECK(table(1)->at(0.7).value > table(2)->at(0.7).value);
  CHECK(table(0)->at(0.7).value > table(1)->at(0.7).value);
}
