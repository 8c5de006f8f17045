#include "runtime/data/synthetic.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <catch2/catch.hpp>

using Catch::Contains;
using mr::LetorFile;
using mr::Ratings;

namespace {

double correlation(const std::vector<double>& x, const std::vector<double>& y) {
  const auto n = static_cast<double>(x.size());
  const double mx = std::accumulate(x.begin(), x.end(), 0.0) / n, my = std::accumulate(y.begin(), y.end(), 0.0) / n;
  double xy = 0, xx = 0, yy = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    xy += (x[i] - mx) * (y[i] - my);
    xx += (x[i] - mx) * (x[i] - mx);
    yy += (y[i] - my) * (y[i] - my);
  }
  return xy / std::sqrt(xx * yy);
}

std::vector<double> counts_of(const std::vector<int64_t>& ids, int64_t n) {
  std::vector<double> counts(static_cast<size_t>(n));
  for (const int64_t id : ids) ++counts.at(static_cast<size_t>(id - 1));
  std::sort(counts.rbegin(), counts.rend());
  return counts;
}

}  // namespace

TEST_CASE("make_ratings gives distinct pairs, valid stars and a skewed popularity") {
  const Ratings r = mr::make_ratings({.users = 500, .items = 2000, .mean_activity = 100});
  CHECK(r.user_ids.size() == 500);
  CHECK(r.item_ids.size() == 2000);
  std::set<std::pair<int64_t, int64_t>> pairs;
  std::set<float> values(r.value.begin(), r.value.end());
  for (size_t i = 0; i < r.user.size(); ++i) CHECK(pairs.insert({r.user[i], r.item[i]}).second);
  CHECK(values == std::set<float>{0.5F, 1, 1.5F, 2, 2.5F, 3, 3.5F, 4, 4.5F, 5});
  CHECK(std::abs(static_cast<double>(r.user.size()) / 500 - 100) < 20);
  // few users and few items have most of the ratings: the most frequent tenth has more than a quarter of them
  for (const auto& counts : {counts_of(r.user, 500), counts_of(r.item, 2000)}) {
    CHECK(std::accumulate(counts.begin(), counts.begin() + static_cast<long>(counts.size() / 10), 0.0) >
          0.25 * static_cast<double>(r.user.size()));
  }
}

TEST_CASE("make_ratings depends on the seed, and has rank one with one factor and no noise") {
  const Ratings a = mr::make_ratings({.users = 50, .items = 300, .seed = 4}),
                b = mr::make_ratings({.users = 50, .items = 300, .seed = 4});
  CHECK((a.user == b.user && a.item == b.item && a.value == b.value));
  CHECK_FALSE(a.value == mr::make_ratings({.users = 50, .items = 300, .seed = 5}).value);
  // With one factor, a rating is 3.5 + p q, with a number p of the user and q of the item. Users with opposite signs of
  // p then disagree on every item.
  const Ratings one = mr::make_ratings({.users = 20, .items = 40, .factors = 1, .mean_activity = 400, .noise = 0});
  int64_t rank_one = 0, all = 0;
  std::vector<std::vector<double>> table(20, std::vector<double>(41, 0));
  for (size_t i = 0; i < one.user.size(); ++i) table[one.user[i] - 1][one.item[i]] = one.value[i] - 3.5;
  for (size_t u = 0; u + 1 < 20; ++u) {
    for (size_t i = 1; i < 40; ++i) {
      const double product = table[u][i] * table[u][i + 1] * table[u + 1][i] * table[u + 1][i + 1];
      all += product != 0;
      rank_one += product > 0;
    }
  }
  REQUIRE(all > 20);
  CHECK(rank_one == all);
}

TEST_CASE("make_ratings works with few users and items and refuses sizes below 1") {
  const int64_t n = GENERATE(1, 2, 31, 33);
  const Ratings r = mr::make_ratings({.users = n, .items = n, .factors = 1, .mean_activity = 1});
  CHECK(r.user.size() >= static_cast<size_t>(n));
  CHECK(*std::max_element(r.item.begin(), r.item.end()) <= n);
  CHECK_THROWS_WITH(mr::make_ratings({.users = 0}), Contains("users is 0"));
  CHECK_THROWS_WITH(mr::make_ratings({.items = -1}), Contains("items is -1"));
}

TEST_CASE("make_queries gives lists of the mean size, three grades and informative features") {
  const LetorFile q = mr::make_queries({.queries = 300, .features = 10, .mean_size = 20, .noise = 0.2});
  CHECK(q.sizes.size() == 300);
  CHECK(q.qids.size() == 300);
  CHECK(q.labels.size() == static_cast<size_t>(std::accumulate(q.sizes.begin(), q.sizes.end(), int64_t{0})));
  const std::vector<float> features = q.features.to_vector<float>();
  CHECK(features.size() == 10 * q.labels.size());
  CHECK(*std::min_element(q.sizes.begin(), q.sizes.end()) >= 2);
  CHECK(std::all_of(features.begin(), features.end(), [](float x) { return x >= 0 && x <= 1; }));
  const auto share = [&](float grade) {
    return static_cast<double>(std::count(q.labels.begin(), q.labels.end(), grade)) /
           static_cast<double>(q.labels.size());
  };
  CHECK(share(0) + share(1) + share(2) == Approx(1));
  CHECK(share(0) > share(1));
  CHECK(share(2) > 0.02);
  CHECK(std::abs(static_cast<double>(q.labels.size()) / 300 - 20) < 4);
  // at least one feature must be correlated with the grade
  std::vector<double> labels(q.labels.begin(), q.labels.end());
  double best = 0;
  for (int64_t f = 0; f < 10; ++f) {
    std::vector<double> x;
    for (size_t row = 0; row < labels.size(); ++row) x.push_back(features[row * 10 + f]);
    best = std::max(best, std::abs(correlation(x, labels)));
  }
  CHECK(best > 0.2);
}

TEST_CASE("make_queries depends on the seed and refuses sizes below 1") {
  const LetorFile a = mr::make_queries({.queries = 20, .seed = 2}), b = mr::make_queries({.queries = 20, .seed = 2}),
                  c = mr::make_queries({.queries = 20, .seed = 3});
  CHECK((a.features.to_vector<float>() == b.features.to_vector<float>() && a.labels == b.labels && a.sizes == b.sizes));
  CHECK_FALSE(a.sizes == c.sizes);
  CHECK_THROWS_WITH(mr::make_queries({.queries = 0}), Contains("queries is 0"));
  CHECK_THROWS_WITH(mr::make_queries({.features = 0}), Contains("features is 0"));
}
