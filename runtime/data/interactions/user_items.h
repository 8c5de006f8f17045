// A table of the items of each user, with grades. It holds, for example, the relevant items or the known items.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "kernels/core/large_pages.h"
#include "runtime/lua/type_names.h"
#include "runtime/tensor/lists.h"

namespace mr {

/// A copy of a UserItemTable on the GPU.
struct UserItemTensors {
  Tensor offsets, items;
};

/// A user and one of the user's items, counted from 1.
struct UserItem {
  int32_t user, item;
};

/// The items of each user: user u (from 0) has items[offsets[u]] .. items[offsets[u + 1] - 1], which are ascending and
/// count from 1.
struct UserItemTable {
  std::vector<int64_t> offsets, items;
  std::vector<float> grades;
  int64_t all_items = 0;

  int64_t all_users() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t count(int64_t user) const { return offsets[user + 1] - offsets[user]; }
  /// Returns a copy of this table on the GPU. The copy is made by the first call.
  const UserItemTensors& on_gpu() const;
  /// Returns the gaps of all users, made by the first call: for each of a user's items, the number of smaller items
  /// that the user does not have. The gaps of each user are followed by cpu::gaps_padding times the largest int32, so
  /// that those of user u begin at offsets[u] + u * cpu::gaps_padding.
  const cpu::LargeVector<int32_t>& gaps() const;
  /// Returns all pairs of a user and an item of the user, made by the first call. Users who have every item are left
  /// out, because they have no negatives. There are at most 2^31 - 1 users and items.
  const cpu::LargeVector<UserItem>& pairs() const;
  /// Lets the garbage collector of Lua count the memory of the table, which is complete, as long as it lives.
  void count_bytes();

 private:
  mutable std::once_flag copied_, counted_, paired_;
  mutable UserItemTensors there_;
  mutable cpu::LargeVector<int32_t> gaps_;
  mutable cpu::LargeVector<UserItem> pairs_;
  std::optional<ForeignBytes> bytes_;
  mutable std::optional<ForeignBytes> gaps_bytes_, pairs_bytes_;
};

using UserItems = std::shared_ptr<const UserItemTable>;

/// Makes a table of the items of each user. User u (from 0) has the pairs of item and grade by_user[starts[u]] to
/// by_user[starts[u + 1] - 1], in any order. An item that occurs twice keeps the larger grade.
UserItems user_item_table(const std::vector<int64_t>& starts, cpu::LargeVector<std::pair<int64_t, float>> by_user,
                          int64_t all_items);

/// Makes a table of the items of each user. `each` calls its argument, a function of user, item (both from 1) and
/// grade, for every pair. It is called twice, so that no list of all pairs takes memory.
template <class Each>
UserItems user_item_table(int64_t all_users, int64_t all_items, const Each& each) {
  std::vector<int64_t> starts(static_cast<size_t>(all_users) + 1, 0);
  each([&](int64_t user, int64_t, float) { ++starts[user]; });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  cpu::LargeVector<std::pair<int64_t, float>> by_user(static_cast<size_t>(starts.back()));
  std::vector<int64_t> next = starts;
  each([&](int64_t user, int64_t item, float grade) { by_user[next[user - 1]++] = {item, grade}; });
  return user_item_table(starts, std::move(by_user), all_items);
}

/// Throws unless there is one user for each list and one item for each row, with numbers from 1 to all_users and to
/// all_items.
void check_users_and_items(const Tensor& users, const Tensor& items, const Lists& lists, int64_t all_users,
                           int64_t all_items);

std::vector<int64_t> users_of_items(const UserItemTable& table);

template <>
inline constexpr const char* lua::class_name<UserItems> = "mr.UserItems";

}  // namespace mr
