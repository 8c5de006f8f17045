#include "runtime/data/interactions/user_items.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "kernels/core/threads.h"
#include "kernels/models/negatives.h"
#include "runtime/data/adopted.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"

namespace mr {

using ItemGrade = std::pair<int64_t, float>;

void check_users_and_items(const Tensor& users, const Tensor& items, const Lists& lists, int64_t all_users,
                           int64_t all_items) {
  if (users.entries() != lists.count() || items.entries() != lists.rows())
    throw ArgumentError("users", std::to_string(users.entries()) + " users and " + std::to_string(items.entries()) +
                                     " items for " + std::to_string(lists.count()) + " lists of " +
                                     std::to_string(lists.rows()) +
                                     " rows, expected one user per list, one item per row");
  check::index("users", users, all_users);
  check::index("items", items, all_items);
}

namespace {

/// Sorts pairs of item and grade by item, and keeps the largest grade of each item.
class ItemOrder {
 public:
  explicit ItemOrder(int64_t all_items) : all_items_(all_items) {}

  /// Returns the end of the pairs that are kept.
  ItemGrade* sort(ItemGrade* first, ItemGrade* last) {
    if (!std::is_sorted(first, last, &before)) {
      const bool is_dense = all_items_ <= std::min(most_items, most_items_per_pair * (last - first));
      if (is_dense) return by_marking(first, last);
      std::sort(first, last, &before);
    }
    return std::unique(first, last, [](const ItemGrade& a, const ItemGrade& b) { return a.first == b.first; });
  }

 private:
  static constexpr int64_t word_bits = 64;
  /// Marking takes longer than comparing in larger catalogues, or where users have fewer of all items.
  static constexpr int64_t most_items = int64_t{1} << 20, most_items_per_pair = 32;

  static bool before(const ItemGrade& a, const ItemGrade& b) {
    return a.first != b.first ? a.first < b.first : a.second > b.second;
  }

  /// Marks the items in a bit set with a bit for each item, then reads it from first to last.
  ItemGrade* by_marking(ItemGrade* first, ItemGrade* last) {
    marks_.resize(static_cast<size_t>(all_items_ / word_bits + 1));
    grades_.resize(static_cast<size_t>(all_items_) + 1);
    for (const ItemGrade* at = first; at != last; ++at) {
      const auto [item, grade] = *at;
      uint64_t& word = marks_[item / word_bits];
      const uint64_t bit = uint64_t{1} << (item % word_bits);
      grades_[item] = (word & bit) != 0 ? std::max(grades_[item], grade) : grade;
      word |= bit;
    }
    for (size_t w = 0; w < marks_.size(); ++w) {
      for (uint64_t left = std::exchange(marks_[w], 0); left != 0; left &= left - 1) {
        const int64_t item = static_cast<int64_t>(w) * word_bits + std::countr_zero(left);
        *first++ = {item, grades_[item]};
      }
    }
    return first;
  }

  int64_t all_items_;
  std::vector<uint64_t> marks_;
  std::vector<float> grades_;
};

}  // namespace

UserItems user_item_table(const std::vector<int64_t>& starts, cpu::LargeVector<ItemGrade> by_user, int64_t all_items) {
  auto table = std::make_shared<UserItemTable>();
  const auto users = static_cast<int64_t>(starts.size()) - 1;
  table->all_items = all_items;
  table->offsets.assign(starts.size(), 0);
  cpu::parallel(users, 64, [&](int64_t begin, int64_t end) {
    ItemOrder order(all_items);
    for (int64_t u = begin; u < end; ++u) {
      cpu::check_interrupt();
      ItemGrade* const first = by_user.data() + starts[u];
      table->offsets[u + 1] = order.sort(first, by_user.data() + starts[u + 1]) - first;
    }
  });
  std::partial_sum(table->offsets.begin(), table->offsets.end(), table->offsets.begin());
  table->items.resize(static_cast<size_t>(table->offsets.back()));
  table->grades.resize(table->items.size());
  cpu::parallel_each(users, 64, [&](int64_t u) {
    const ItemGrade* from = by_user.data() + starts[u];
    for (int64_t i = table->offsets[u]; i < table->offsets[u + 1]; ++i, ++from) {
      table->items[i] = from->first;
      table->grades[i] = from->second;
    }
  });
  table->count_bytes();
  return table;
}

void UserItemTable::count_bytes() {
  bytes_.emplace(
      static_cast<int64_t>(sizeof(int64_t) * (offsets.size() + items.size()) + sizeof(float) * grades.size()));
}

namespace {

/// Calls take(user, item, grade) for each item of one user. Users count from 1.
void pairs_of(const UserItemTable& table, int64_t user, auto&& take) {
  for (int64_t i = table.offsets[user - 1]; i < table.offsets[user]; ++i) take(user, table.items[i], table.grades[i]);
}

/// Calls take(user, item, grade) for each item of every user.
void pairs_of(const UserItemTable& table, auto&& take) {
  for (int64_t user = 1; user <= table.all_users(); ++user) pairs_of(table, user, take);
}

void check_totals(int64_t all_users, int64_t all_items) {
  constexpr int64_t most = int64_t{1} << 40;
  for (const auto& [name, n] : {std::pair("all_users", all_users), std::pair("all_items", all_items)}) {
    if (n < 0 || n > most) throw ArgumentError(name, std::to_string(n) + ", expected 0 to " + std::to_string(most));
  }
}

UserItems user_items(const Lists& lists, const Tensor& users, const Tensor& items, int64_t all_users,
                     int64_t all_items) {
  check_totals(all_users, all_items);
  check_users_and_items(users, items, lists, all_users, all_items);
  const Column<int64_t> user(users), item(items);
  return user_item_table(all_users, all_items, [&](auto&& take) {
    for (int64_t l = 0, r = 0; l < lists.count(); ++l) {
      for (const int64_t end = r + lists.sizes()[l]; r < end; ++r) {
        if (lists.relevance()[r] > 0) take(user[l], item[r], lists.relevance()[r]);
      }
    }
  });
}

/// Returns the items of each user from a table of ratings: all rated items if `all` is true, else those with a rating
/// above 0.
UserItems items_of_ratings(const Tensor& user, const Tensor& item, const Tensor& value, bool all, int64_t all_users,
                           int64_t all_items) {
  check_totals(all_users, all_items);
  check::type("value", value, Dtype::float32);
  if (item.entries() != user.entries() || value.entries() != user.entries())
    throw ArgumentError("user", "has " + std::to_string(user.entries()) + " entries, but there are " +
                                    std::to_string(item.entries()) + " items and " + std::to_string(value.entries()) +
                                    " values; expected one of each per rating");
  check::index("user", user, all_users);
  check::index("item", item, all_items);
  const Column<int64_t> users(user), items(item);
  const Column<float> values(value);
  return user_item_table(all_users, all_items, [&](auto&& take) {
    for (size_t i = 0; i < users.size(); ++i) {
      if (all || values[i] > 0) take(users[i], items[i], 1.0F);
    }
  });
}

UserItems together(const UserItems& a, const UserItems& b) {
  if (a->all_users() != b->all_users() || a->all_items != b->all_items)
    throw ArgumentError("other", "has " + std::to_string(b->all_users()) + " users and " +
                                     std::to_string(b->all_items) + " items, expected " +
                                     std::to_string(a->all_users()) + " and " + std::to_string(a->all_items));
  return user_item_table(a->all_users(), a->all_items, [&](auto&& take) {
    pairs_of(*a, take);
    pairs_of(*b, take);
  });
}

/// Returns a table with the items of the given users; all other users have no items.
UserItems only(const UserItems& table, const Tensor& users) {
  check::index("users", users, table->all_users());
  const Column<int64_t> chosen(users);
  return user_item_table(table->all_users(), table->all_items, [&](auto&& take) {
    for (const int64_t user : chosen) pairs_of(*table, user, take);
  });
}

/// Returns a table with the same pairs of users and items, but with another number of users and of items in all.
UserItems sized(const UserItems& table, int64_t all_users, int64_t all_items) {
  check_totals(all_users, all_items);
  pairs_of(*table, [&](int64_t user, int64_t item, float) {
    if (user > all_users || item > all_items)
      throw ArgumentError("all_users", "and all_items are " + std::to_string(all_users) + " and " +
                                           std::to_string(all_items) + ", but the table has user " +
                                           std::to_string(user) + " with item " + std::to_string(item));
  });
  return user_item_table(all_users, all_items, [&](auto&& take) { pairs_of(*table, take); });
}

/// Returns how many pairs of a user and an item are in `table` but not in `other`, for the given users.
int64_t count_without(const UserItems& table, const UserItems& other, const Tensor& users) {
  if (table->all_users() != other->all_users())
    throw ArgumentError("other", "has " + std::to_string(other->all_users()) + " users, expected " +
                                     std::to_string(table->all_users()));
  check::index("users", users, table->all_users());
  int64_t count = 0;
  for (const int64_t user : Column<int64_t>(users)) {
    const auto first = other->items.begin() + other->offsets[user - 1],
               last = other->items.begin() + other->offsets[user];
    for (int64_t i = table->offsets[user - 1]; i < table->offsets[user]; ++i)
      count += std::binary_search(first, last, table->items[i]) ? 0 : 1;
  }
  return count;
}

/// Returns the numbers of the users with at least one item, counted from 1.
Tensor active_users(const UserItems& table) {
  std::vector<int64_t> users;
  for (int64_t u = 0; u < table->all_users(); ++u) {
    if (table->count(u) > 0) users.push_back(u + 1);
  }
  return Tensor::from(users);
}

Tensor item_counts(const UserItems& table) { return Tensor::from(users_of_items(*table)); }
int64_t pair_count(const UserItems& table) { return static_cast<int64_t>(table->items.size()); }
int64_t user_count(const UserItems& table) { return table->all_users(); }
int64_t items_of(const UserItems& table) { return table->all_items; }

}  // namespace

const UserItemTensors& UserItemTable::on_gpu() const {
  std::call_once(copied_, [this] {
    there_ = {Tensor::from(offsets, Device::cuda), Tensor::from(items, Device::cuda)};
  });
  return there_;
}

const cpu::LargeVector<UserItem>& UserItemTable::pairs() const {
  std::call_once(paired_, [this] {
    std::vector<int64_t> starts{0};
    starts.reserve(offsets.size());
    for (int64_t u = 0; u < all_users(); ++u) starts.push_back(starts.back() + (count(u) < all_items ? count(u) : 0));
    pairs_.resize(static_cast<size_t>(starts.back()));
    pairs_bytes_.emplace(static_cast<int64_t>(pairs_.size() * sizeof(UserItem)));
    cpu::parallel_each(all_users(), 64, [&](int64_t u) {
      if (starts[u + 1] == starts[u]) return;
      const auto own = items.begin() + offsets[u];
      std::transform(own, own + count(u), pairs_.begin() + starts[u], [&](int64_t item) {
        return UserItem{static_cast<int32_t>(u + 1), static_cast<int32_t>(item)};
      });
    });
  });
  return pairs_;
}

const cpu::LargeVector<int32_t>& UserItemTable::gaps() const {
  std::call_once(counted_, [this] {
    constexpr int64_t padding = cpu::gaps_padding;
    gaps_.assign(items.size() + static_cast<size_t>(all_users() * padding), std::numeric_limits<int32_t>::max());
    gaps_bytes_.emplace(static_cast<int64_t>(gaps_.size() * sizeof(int32_t)));
    cpu::parallel(all_users(), 64, [&](int64_t first, int64_t last) {
      for (int64_t user = first; user < last; ++user) {
        const int64_t begin = offsets[user];
        int32_t* const own = gaps_.data() + begin + user * padding;
        for (int64_t m = 0; m < count(user); ++m) own[m] = static_cast<int32_t>(items[begin + m] - 1 - m);
      }
    });
  });
  return gaps_;
}

std::vector<int64_t> users_of_items(const UserItemTable& table) {
  std::vector<int64_t> counts(static_cast<size_t>(table.all_items), 0);
  for (const int64_t item : table.items) ++counts[item - 1];
  return counts;
}

using lua::op;
extern const lua::OpTable user_items_functions{
    lua::OpTable::functions,
    nullptr,
    {op<&user_items>("user_items", "lists, users, items, all_users, all_items",
                     "The items of each user with a grade above 0."),
     op<&items_of_ratings>("items_of_ratings", "user, item, value, all, all_users, all_items",
                           "The items that each user rated: all, or only those with a value above 0.")}};
extern const lua::OpTable user_items_methods{
    lua::OpTable::methods,
    &lua::push_metatable<UserItems>,
    {
        op<&together>("with", "self, other", "A table with the pairs of both tables."),
        op<&sized>("sized", "self, all_users, all_items", "These pairs, for other numbers of users and items."),
        op<&only>("only", "self, users", "A table with the items of the given users only."),
        op<&count_without>("count_without", "self, other, users",
                           "Number of pairs of the given users that are in this table but not in `other`."),
        op<&active_users>("active_users", "self", "Numbers of the users with at least one item; int64."),
        op<&item_counts>("item_counts", "self", "Number of users of each item; int64."),
    }};
extern const lua::OpTable user_items_getters{lua::OpTable::getters,
                                             &lua::push_metatable<UserItems>,
                                             {
                                                 op<&pair_count>("rows", "self", "Number of pairs."),
                                                 op<&user_count>("users", "self", "Number of users."),
                                                 op<&items_of>("items", "self", "Number of items."),
                                             }};

}  // namespace mr
