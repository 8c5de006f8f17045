#include "runtime/data/interactions/user_items.h"

#include <map>
#include <random>

#include <catch2/catch.hpp>

namespace mr {
namespace {

struct Pair {
  int64_t user, item;
  float grade;
};

/// Draws pairs in random order. Users have from 0 to 200 items among the first `choices` ones, some of them twice.
std::vector<Pair> drawn(int64_t users, int64_t choices, uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<Pair> pairs;
  for (int64_t user = 1; user <= users; ++user) {
    const int64_t count = user % 5 == 0 ? 0 : static_cast<int64_t>(random() % 200);
    for (int64_t k = 0; k < count; ++k) {
      const auto item = static_cast<int64_t>(random() % static_cast<uint64_t>(choices)) + 1;
      pairs.push_back({user, item, static_cast<float>(random() % 4)});
    }
  }
  std::shuffle(pairs.begin(), pairs.end(), random);
  return pairs;
}

TEST_CASE("user_item_table sorts each user's items and keeps the largest grade, in catalogues of any size") {
  constexpr int64_t users = 70, choices = 150;
  const int64_t all_items = GENERATE(as<int64_t>{}, 150, 151, 1000, 100000, int64_t{1} << 40);
  const std::vector<Pair> pairs = drawn(users, choices, 7);
  const UserItems table = user_item_table(users, all_items, [&](auto&& take) {
    for (const Pair& each : pairs) take(each.user, each.item, each.grade);
  });
  std::map<int64_t, std::map<int64_t, float>> expected;
  for (const auto& [user, item, grade] : pairs) {
    const auto [at, added] = expected[user].emplace(item, grade);
    if (!added) at->second = std::max(at->second, grade);
  }
  REQUIRE(table->all_users() == users);
  for (int64_t user = 1; user <= users; ++user) {
    const std::map<int64_t, float>& own = expected[user];
    REQUIRE(table->count(user - 1) == static_cast<int64_t>(own.size()));
    int64_t i = table->offsets[user - 1];
    for (const auto& [item, grade] : own) {
      CHECK(table->items[i] == item);
      CHECK(table->grades[i] == grade);
      ++i;
    }
  }
}

TEST_CASE("UserItemTable::pairs has every pair of a user and an item, but not those of users with all items") {
  const int64_t full = GENERATE(0, 1, 2, 3);  // this user has all items; 0: none has
  const UserItems table = user_item_table(3, 4, [&](auto&& take) {
    for (int64_t item = 4; item >= 1; --item) {
      for (int64_t user = 1; user <= 3; ++user) {
        if (user == full || item % 2 == user % 2) take(user, item, 1.0F);
      }
    }
  });
  std::vector<std::pair<int64_t, int64_t>> found, expected;
  for (const UserItem& each : table->pairs()) found.emplace_back(each.user, each.item);
  for (int64_t user = 1; user <= 3; ++user) {
    for (int64_t item = 1; item <= 4; ++item) {
      if (user != full && item % 2 == user % 2) expected.emplace_back(user, item);
    }
  }
  CHECK(found == expected);
}

}  // namespace
}  // namespace mr
