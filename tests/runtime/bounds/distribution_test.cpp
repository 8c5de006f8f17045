// Compares sampled distributions of metrics and their smoothed distribution functions with sums over all samples and
// with all orders of small lists. Also tests that sampled distributions are cached.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "kernels/ranking/discount.h"
#include "runtime/bounds/smooth_cdf.h"
#include "tests/support/command.h"
#include "tests/support/smoothed_sum.h"

using namespace mr;

namespace {

/// Made-up samples: sums of two uniform numbers, and a few values far away, so that the distribution has a bulk, a gap
/// and a tail.
std::vector<double> made_up(int64_t n) {
  std::vector<double> values;
  const RandomKey key = random_key(3, "values");
  for (int64_t i = 0; i < n; ++i) {
    const auto at = static_cast<uint64_t>(2 * i);
    values.push_back(uniform(key, at) + uniform(key, at + 1) + (i % 1000 == 7 ? 2 : 0));
  }
  return values;
}

/// Returns the nDCG of every order of rows with these grades.
std::vector<double> all_orders(std::vector<float> grades) {
  std::vector<double> gains(grades.begin(), grades.end()), d, values;
  for (double& g : gains) g = gain_of(g);
  for (size_t r = 0; r < gains.size(); ++r) d.push_back(discount(static_cast<double>(r) + 1));
  std::sort(gains.begin(), gains.end(), std::greater<>());
  const double ideal = std::inner_product(gains.begin(), gains.end(), d.begin(), 0.0);
  do {
    values.push_back(std::inner_product(gains.begin(), gains.end(), d.begin(), 0.0) / ideal);
  } while (std::prev_permutation(gains.begin(), gains.end()));
  return values;
}

double distance(const Distribution& a, const Distribution& b) {
  double worst = 0;
  for (const double x : b.values()) worst = std::max(worst, std::fabs(a.cdf(x + 1e-9) - b.cdf(x + 1e-9)));
  return worst;
}

}  // namespace

TEST_CASE("Distribution::table agrees with the smoothed sum over all values") {
  const std::vector<double> values = made_up(20000);
  const Distribution d(values);
  for (const double kappa : {1.0, 8.0, 20.0}) {
    const LogitTable table = d.table(kappa / d.sd());
    for (double s = d.min() - 2; s <= d.max() + 2; s += 0.037) {
      INFO("kappa " << kappa << " s " << s);
      const Smoothed found = table.at(s), expected = test::smoothed_sum(values, kappa / d.sd(), s);
      CHECK(std::fabs(found.value - expected.value) < 5e-6);
      CHECK(std::fabs(found.derivative - expected.derivative) * d.sd() < 3e-4);
    }
  }
}

TEST_CASE("Distribution::smooth with the thesis' steepness agrees with the sum over all values") {
  for (const int64_t n : {2, 31, 128, 5000}) {
    const std::vector<double> values = made_up(n);
    const Distribution d(values);
    for (double s = d.min() - 0.1; s <= d.max() + 0.1; s += 0.0093) {
      const Smoothed found = d.smooth(s, d.sample_steepness()),
                     expected = test::smoothed_sum(values, d.sample_steepness(), s);
      CHECK(found.value == Approx(expected.value).margin(1e-13));
      CHECK(found.derivative == Approx(expected.derivative).epsilon(1e-9).margin(1e-11));
    }
  }
}

TEST_CASE("Distribution::table is monotone even if values are few and far apart") {
  std::vector<double> reciprocal;
  for (int r = 1; r <= 5000; ++r) reciprocal.push_back(1.0 / r);
  for (const auto& values : {reciprocal, std::vector<double>{0, 1}, std::vector<double>{0, 1, 1, 1, 1, 1, 1000}}) {
    const Distribution d(values);
    for (const double kappa : {2.0, 8.0, 100.0}) {
      const LogitTable table = d.table(kappa / d.sd());
      const double margin = 30 * d.sd() / kappa, from = d.min() - margin, width = d.max() + margin - from;
      double before = 0;
      for (int i = 0; i <= 20000; ++i) {
        const Smoothed found = table.at(from + width * i / 20000);
        if (found.value < before || !(found.derivative >= 0)) FAIL("falls at " << i << " for kappa " << kappa);
        before = found.value;
      }
      CHECK(before > 1 - 1e-9);
      CHECK(table.at(from).value < 1e-9);
    }
  }
}

TEST_CASE("Distribution takes little memory if many samples have few distinct values") {
  std::vector<double> values = made_up(100000);
  for (double& x : values) x = std::floor(10 * x);
  CHECK(Distribution(values).bytes() < 10000);
}

TEST_CASE("Distribution has slope 0 with a single value and throws without values") {
  const Distribution d(std::vector<double>{0.5, 0.5, 0.5});
  CHECK(d.sd() == 0);
  for (const Smoothed s : {d.table(8).at(0.3), d.smooth(0.3, 8)}) {
    CHECK(s.value == 0.5);
    CHECK(s.derivative == 0);
  }
  CHECK_THROWS(Distribution(std::vector<double>{}));
}

TEST_CASE("sampled nDCG of graded lists is within 0.003 of the distribution over all orders") {
  const Metric ndcg = to_metric("ndcg");
  for (const std::vector<float>& grades :
       {std::vector<float>{2, 1, 0}, {3, 2, 2, 1, 0, 0, 0, 0}, {2, 2, 1, 1, 1}, {9, 8, 7, 6, 5, 4, 3, 2, 1}}) {
    const ListShape shape = shape_of(ndcg, grades.data(), static_cast<int64_t>(grades.size()));
    const Distribution sampled(sample_metric(ndcg, shape, 300000, 1)), exact(all_orders(grades));
    INFO(grades.size() << " rows");
    CHECK(distance(sampled, exact) < 0.003);
    CHECK(sampled.mean() == Approx(bound_stats(ndcg, shape, true).expectation).margin(4 * exact.sd() / 548));
  }
}

TEST_CASE("sample_metric draws the same first samples for every number of samples") {
  const Metric ap = to_metric("ap");
  const ListShape shape{50, 13, {}};
  const std::vector<double> few = sample_metric(ap, shape, 33, 1), many = sample_metric(ap, shape, 5000, 1);
  CHECK(few == std::vector<double>(many.begin(), many.begin() + 33));
  CHECK(sample_metric(ap, shape, 33, 2) != few);
  CHECK(sample_metric(ap, shape, 1, 1).size() == 1);
  CHECK_THROWS_WITH(sample_metric(ap, shape, 0, 1), Catch::Matchers::Contains("expected 1 to"));
}

TEST_CASE("smooth_cdfs reuses results for equal shape, seed and smoothing, and its tables are small") {
  const Metric ndcg = to_metric("ndcg");
  const ListShape shape{41, 13, {}}, none{5, 0, {}}, all{5, 5, {}};
  const auto of = [&](const ListShape& s, int64_t seed, const Smoothing& how) {
    return smooth_cdfs(ndcg, {s}, {Method::sampled, 20000, seed}, how)[0];
  };
  const auto first = smooth_cdfs(ndcg, {shape, none, shape, all}, {Method::sampled, 20000, 1}, {});
  REQUIRE(first.size() == 4);
  CHECK(first[0]);
  CHECK(first[0] == first[2]);
  CHECK(!first[1]);
  CHECK(!first[3]);
  CHECK(of(shape, 1, {}) == first[0]);
  CHECK(of(shape, 2, {}) != first[0]);
  CHECK(of(shape, 1, {Smoothing::by_kappa, 4}) != first[0]);
  const auto table = std::get<std::shared_ptr<const LogitTable>>(*first[0]);
  const auto thesis = std::get<std::shared_ptr<const Distribution>>(*of(shape, 1, {Smoothing::by_samples, 8}));
  CHECK(table->bytes() < 50000);
  CHECK(thesis->bytes() > 20000 * 7);
  CHECK(table->at(0.7).value == Approx(thesis->smooth(0.7, thesis->sample_steepness()).value).margin(0.02));
}

// The script runs in new processes without cached samples and prints every loss and gradient in hexadecimal. With 20
// list shapes, one thread samples each shape; with fewer shapes than threads, all threads sample one shape.
TEST_CASE("losses with sampled bounds have the same bits for every number of threads") {
  const char* const script = R"(
    for _, count in ipairs{1, 20} do
      local many = {}
      for l = 1, count do
        many[l] = {}
        for i = 1, 5 + l do many[l][i] = i % 3 == 0 and 2 or i % 5 == 0 and 1 or 0 end
      end
      local lists = mr.lists(many)
      local scores = mr.normal({lists.rows}, {seed = 6, dtype = 'float64'}):requires_grad()
      for _, loss in ipairs{'ndcg', 'ap', 'nrbp'} do
        for _, steepness in ipairs{'kappa', 'samples'} do
          local bound = mr.bounds.distribution_bound{method = 'sampled', samples = 5000, steepness = steepness}
          local values = mr.losses[loss]{bound = bound}(scores, lists)
          values:sum():backward()
          for _, x in ipairs(values:totable()) do print(('%a'):format(x)) end
        end
      end
      for _, x in ipairs(scores.grad:totable()) do print(('%a'):format(x)) end
    end
  )";
  const auto one = test::run({"--threads", "1", "-e", script});
  INFO(one.err);
  REQUIRE(one.status == 0);
  CHECK(one.out.size() > 5000);
  CHECK(test::run({"--threads", "2", "-e", script}).out == one.out);
  CHECK(test::run({"--threads", "5", "-e", script}).out == one.out);
}
