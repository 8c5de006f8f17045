#include "runtime/data/interactions/split.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>

#include "runtime/data/interactions/ratings.h"
#include "tests/support/data_files.h"
#include "tests/support/says.h"

using Catch::Contains;
using mr::Fold;
using mr::FoldOptions;
using mr::make_fold;
using mr::Part;
using mr::Positives;
using mr::test::says;
using Ints = std::vector<int64_t>;
using Items = std::set<int64_t>;

namespace {

// Returns users with the given numbers of relevant items, which are spread over the catalogue.
Positives users_with(const Ints& counts, int64_t all_items) {
  Positives p;
  p.all_items = all_items;
  p.offsets = {0};
  for (size_t u = 0; u < counts.size(); ++u) {
    p.users.push_back(static_cast<int64_t>(2 * u + 1));
    Items items;
    for (int64_t i = 0; i < counts[u]; ++i) items.insert(i * all_items / counts[u] + 1);
    p.items.insert(p.items.end(), items.begin(), items.end());
    p.offsets.push_back(static_cast<int64_t>(p.items.size()));
  }
  return p;
}

struct Rows {
  Items relevant, negative;
};

// Returns for each user the relevant and negative items in a part of a fold. Fails if a user or one of a user's items
// occurs twice.
std::map<int64_t, Rows> by_user(const Part& part) {
  std::map<int64_t, Rows> out;
  size_t row = 0;
  REQUIRE(part.users.size() == part.sizes.size());
  REQUIRE(part.items.size() == part.relevance.size());
  for (size_t l = 0; l < part.users.size(); ++l) {
    REQUIRE(out.count(part.users[l]) == 0);
    Rows& rows = out[part.users[l]];
    for (const size_t end = row + static_cast<size_t>(part.sizes[l]); row < end; ++row) {
      REQUIRE((part.relevance[row] == 0.0F || part.relevance[row] == 1.0F));
      REQUIRE((part.relevance[row] == 1.0F ? rows.relevant : rows.negative).insert(part.items[row]).second);
    }
  }
  REQUIRE(row == part.items.size());
  return out;
}

struct Parts {
  std::map<int64_t, Rows> train, valid, test;
  explicit Parts(const Fold& f) : train(by_user(f.train)), valid(by_user(f.valid)), test(by_user(f.test)) {}
};

bool same(const Part& a, const Part& b) {
  return a.users == b.users && a.sizes == b.sizes && a.items == b.items && a.relevance == b.relevance;
}

Positives positives_of(const Ints& user, const Ints& item, const std::vector<float>& value, int64_t users,
                       int64_t items, double threshold, int64_t least) {
  return mr::positives_of({.user = user, .item = item, .value = value}, users, items, threshold, least, false);
}

template <class... Sets>
Items together(const Sets&... sets) {
  Items all;
  size_t total = 0;
  ((all.insert(sets.begin(), sets.end()), total += sets.size()), ...);
  REQUIRE(all.size() == total);  // disjoint
  return all;
}

}  // namespace

TEST_CASE("positives_of keeps the relevant items of users with enough of them") {
  const Ints user{1, 1, 1, 2, 2, 3, 4}, item{3, 1, 2, 1, 2, 3, 1};
  const std::vector<float> value{4, 5, 3.5F, 4, 4.5F, 5, 1};
  const Positives all = positives_of(user, item, value, 5, 3, 4, 0);
  CHECK(all.users == Ints{1, 2, 3});
  CHECK(all.offsets == Ints{0, 2, 4, 5});
  CHECK(all.items == Ints{1, 3, 1, 2, 3});
  CHECK(all.all_items == 3);
  CHECK(positives_of(user, item, value, 5, 3, 4, 2).users == Ints{1, 2});
  CHECK(positives_of(user, item, value, 5, 3, 4, 3).users.empty());
  CHECK(positives_of(user, item, value, 5, 3, 3.5, 3).users == Ints{1});
  CHECK_THROWS_WITH(positives_of({1, 6}, {1, 1}, {5, 5}, 5, 3, 4, 0), says("row 2", "user 6", "1 to 5"));
  CHECK_THROWS_WITH(positives_of({1}, {0}, {5}, 5, 3, 4, 0), says("row 1", "item 0"));
  CHECK_THROWS_WITH(positives_of({1}, {1, 2}, {5}, 5, 3, 4, 0), Contains("1 users, 2 items and 1 ratings"));
}

TEST_CASE("positives_of raises an error if a user has an item twice") {
  const std::vector<float> ones(4, 1.0F);
  // user 2 has item 2 twice; if both counted, too few unseen items would remain for negatives
  CHECK_THROWS_WITH(positives_of({1, 2, 2, 2}, {1, 2, 3, 2}, ones, 2, 3, 1, 1), says("user 2", "item 2"));
  // the error is also raised if only one of the two ratings of the item is relevant
  CHECK_THROWS_WITH(positives_of({1, 1, 1, 1}, {3, 1, 2, 3}, {1, 1, 0, 0}, 1, 3, 1, 1), says("user 1", "item 3"));
  CHECK(positives_of({1, 2, 1, 2}, {1, 1, 2, 2}, ones, 2, 2, 1, 1).items == Ints{1, 2, 1, 2});
}

TEST_CASE("positives_of refuses a negative or too large number of users") {
  for (const int64_t users : {int64_t{-1}, std::numeric_limits<int64_t>::min(), int64_t{1} << 60}) {
    CHECK_THROWS_WITH(positives_of({}, {}, {}, users, 1, 1, 1), Contains("users, expected 0 to"));
  }
}

TEST_CASE("make_fold puts every relevant item into the test part of one fold, with nsr negatives each") {
  const Positives p = users_with({1, 2, 5, 31, 32, 33, 127, 128, 129, 1000}, 20000);
  const int64_t k = GENERATE(2, 3, 5);
  std::map<int64_t, Items> tested;
  for (int64_t f = 1; f <= k; ++f) {
    const Parts parts(make_fold(p, {.folds = k, .fold = f, .nsr = 2, .valid = 0.1, .seed = 3}));
    for (size_t u = 0; u < p.users.size(); ++u) {
      const auto user = p.users[u];
      const auto rows = [&](const std::map<int64_t, Rows>& part) {
        return part.count(user) != 0 ? part.at(user) : Rows{};
      };
      const Rows train = rows(parts.train), valid = rows(parts.valid), test = rows(parts.test);
      const Items known(p.items.begin() + p.offsets[u], p.items.begin() + p.offsets[u + 1]);
      CHECK(together(train.relevant, valid.relevant, test.relevant) == known);
      // each part has the requested number of negatives; they are different items of the catalogue, and none is
      // relevant in any part
      const Items negatives = together(train.negative, valid.negative, test.negative);
      CHECK(together(negatives, known).size() == 3 * known.size());
      if (!negatives.empty()) CHECK((*negatives.begin() >= 1 && *negatives.rbegin() <= p.all_items));
      CHECK(train.negative.size() == 2 * train.relevant.size());
      CHECK(valid.negative.size() == 2 * valid.relevant.size());
      CHECK(test.negative.size() == 2 * test.relevant.size());
      // stratified per user: the folds' numbers of test items differ by at most one, and validation gets the rounded
      // share of the remaining items
      const auto n = static_cast<double>(known.size());
      CHECK(test.relevant.size() >= std::floor(n / static_cast<double>(k)));
      CHECK(test.relevant.size() <= std::ceil(n / static_cast<double>(k)));
      const size_t rest = known.size() - test.relevant.size();
      CHECK(valid.relevant.size() ==
            (rest < 2 ? 0 : std::max<size_t>(1, static_cast<size_t>(std::llround(0.1 * static_cast<double>(rest))))));
      tested[user] = together(tested[user], test.relevant);
    }
  }
  for (size_t u = 0; u < p.users.size(); ++u) {
    CHECK(tested[p.users[u]] == Items(p.items.begin() + p.offsets[u], p.items.begin() + p.offsets[u + 1]));
  }
}

TEST_CASE("make_fold depends on the seed, and its relevant items do not depend on nsr") {
  const Positives p = users_with({40, 25, 60}, 1000);
  const FoldOptions options{.folds = 5, .fold = 2, .nsr = 1, .valid = 0.1, .seed = 7};
  const Fold a = make_fold(p, options), again = make_fold(p, options);
  CHECK((same(a.train, again.train) && same(a.valid, again.valid) && same(a.test, again.test)));
  FoldOptions other = options;
  other.seed = 8;
  CHECK_FALSE(same(make_fold(p, other).test, a.test));
  other = options;
  other.nsr = 3;
  const Parts one(a), three(make_fold(p, other));
  for (const int64_t user : p.users) {
    CHECK(one.train.at(user).relevant == three.train.at(user).relevant);
    CHECK(one.valid.at(user).relevant == three.valid.at(user).relevant);
    CHECK(one.test.at(user).relevant == three.test.at(user).relevant);
  }
  // a user's negatives do not depend on the other users in the data set
  Positives alone = users_with({40}, 1000);
  CHECK(by_user(make_fold(alone, options).test).at(1).negative == one.test.at(1).negative);
}

TEST_CASE("make_fold shuffles the rows of a list") {
  const Fold f = make_fold(users_with({500}, 5000), {.folds = 2, .fold = 1, .nsr = 1, .valid = 0, .seed = 1});
  REQUIRE(f.test.sizes == Ints{500});
  CHECK(f.valid.users.empty());
  double first_half = 0, ascending = 0;
  for (size_t i = 0; i < 250; ++i) first_half += f.test.relevance[i];
  for (size_t i = 0; i + 1 < 500; ++i) ascending += f.test.items[i] < f.test.items[i + 1];
  // expected 125 +- 5.6 relevant rows (hypergeometric) and 249.5 +- 6.5 ascending pairs; tolerances are five standard
  // deviations
  CHECK(std::abs(first_half - 125) < 28);
  CHECK(std::abs(ascending - 249.5) < 33);
}

TEST_CASE("make_fold draws every unseen item as a negative with the same probability") {
  const Positives p = users_with({3}, 20);
  std::map<int64_t, int64_t> drawn;
  constexpr int seeds = 4000;
  for (int seed = 0; seed < seeds; ++seed) {
    const Part test =
        make_fold(p, {.folds = 2, .fold = 1, .nsr = 2, .valid = 0, .seed = static_cast<uint64_t>(seed)}).test;
    for (size_t i = 0; i < test.items.size(); ++i) drawn[test.items[i]] += test.relevance[i] == 0;
  }
  for (const int64_t item : p.items) drawn.erase(item);
  CHECK(drawn.size() == 17);
  // The test part has 2 of the 3 relevant items, so 4 of 17 unseen items are drawn as negatives. The limit of
  // chi-squared with 16 degrees of freedom is its 99.9 % quantile, 39.25.
  const double expected = seeds * 4.0 / 17;
  double chi = 0;
  for (const auto& [item, n] : drawn) chi += (n - expected) * (n - expected) / expected;
  CHECK(chi < 39.25);
}

TEST_CASE("make_fold shares too few unseen items among the parts in proportion") {
  // A user has 15 relevant items: 8 in the test part, 1 in validation, 6 in training. 15 negatives are wanted, but only
  // 5 items are unseen.
  const Fold f = make_fold(users_with({15}, 20), {.folds = 2, .fold = 1, .nsr = 1, .valid = 0.1, .seed = 1});
  const Parts parts(f);
  CHECK(f.short_users == 1);
  CHECK(parts.train.at(1).negative.size() == 2);
  CHECK(parts.valid.at(1).negative.empty());
  CHECK(parts.test.at(1).negative.size() == 3);
  const Positives two = users_with({10, 2}, 10);
  const Fold none = make_fold(two, {.folds = 2, .fold = 1, .nsr = 1, .valid = 0.1, .seed = 1});
  CHECK(none.short_users == 1);
  CHECK(by_user(none.test).at(1).negative.empty());
  CHECK(by_user(none.test).at(3).negative.size() == 1);
}

TEST_CASE("make_fold gives no part more negatives than nsr asks for and uses all unseen items") {
  for (int64_t relevant = 1; relevant <= 30; ++relevant) {
    for (const int64_t nsr : {1, 2, 7}) {
      const Fold f =
          make_fold(users_with({relevant}, 32), {.folds = 5, .fold = 1, .nsr = nsr, .valid = 0.3, .seed = 5});
      const Parts parts(f);
      size_t all = 0;
      for (const auto* const part : {&parts.train, &parts.valid, &parts.test}) {
        for (const auto& [user, rows] : *part) {
          CHECK(rows.negative.size() <= nsr * rows.relevant.size());
          all += rows.negative.size();
        }
      }
      CHECK(all == static_cast<size_t>(std::min(nsr * relevant, 32 - relevant)));
      CHECK(f.short_users == (nsr * relevant > 32 - relevant));
    }
  }
}

TEST_CASE("make_fold checks its options") {
  const Positives p = users_with({5}, 20);
  CHECK_THROWS_WITH(make_fold(p, {.folds = 1}), Contains("k is 1"));
  CHECK_THROWS_WITH(make_fold(p, {.folds = 5, .fold = 6}), says("fold 6", "1 to 5"));
  CHECK_THROWS_WITH(make_fold(p, {.folds = 5, .fold = 0}), Contains("fold 0"));
  CHECK_THROWS_WITH(make_fold(p, {.nsr = -1}), Contains("nsr is -1"));
  CHECK_THROWS_WITH(make_fold(p, {.nsr = 5000}), says("nsr is 5000", "4095"));
  CHECK_THROWS_WITH(make_fold(p, {.valid = 1}), Contains("valid is 1"));
  CHECK_THROWS_WITH(make_fold(p, {.valid = NAN}), Contains("valid is"));
  const Fold plain = make_fold(p, {.nsr = 0, .valid = 0});
  CHECK(plain.train.items.size() + plain.test.items.size() == 5);
}

TEST_CASE("positives_of and make_fold keep the thesis' 412 MovieLens users with 25 relevant movies") {
  const std::string path = mr::test::real_data("ml-latest-small/ratings.csv.gz");
  if (path.empty()) return;
  const mr::Ratings r = mr::read_ratings(path, {});
  const auto of = [&](double threshold, int64_t least) {
    return positives_of(r.user, r.item, r.value, 610, 9724, threshold, least);
  };
  CHECK(of(4, 0).items.size() == 48580);
  const std::map<int64_t, size_t> published{{1, 609}, {5, 603}, {10, 579}, {20, 465}, {25, 412}, {50, 255}};
  for (const auto& [least, users] : published) CHECK(of(4, least).users.size() == users);
  const Positives kept = of(4, 25);
  const Fold f = make_fold(kept, {.folds = 5, .fold = 1, .nsr = 3, .valid = 0.1, .seed = 1});
  const Parts parts(f);
  CHECK(parts.test.size() == 412);
  CHECK(f.short_users == 0);
  for (size_t u = 0; u < kept.users.size(); ++u) {
    const int64_t user = kept.users[u];
    const Items known(kept.items.begin() + kept.offsets[u], kept.items.begin() + kept.offsets[u + 1]);
    CHECK(together(parts.train.at(user).relevant, parts.valid.at(user).relevant, parts.test.at(user).relevant) ==
          known);
    together(known, parts.train.at(user).negative, parts.valid.at(user).negative, parts.test.at(user).negative);
  }
}
