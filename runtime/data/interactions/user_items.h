// The items of each user, with grades: for example relevant items, or known items.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "runtime/lua/type_names.h"
#include "runtime/tensor/lists.h"

namespace mr {

/// The tensors of a UserItemTable on the GPU.
struct UserItemTensors {
  Tensor offsets, items;
};

/// The items of user u (from 0) are items[offsets[u]] .. items[offsets[u + 1] - 1], ascending, counted from 1.
struct UserItemTable {
  std::vector<int64_t> offsets, items;
  std::vector<float> grades;
  int64_t all_items = 0;

  int64_t all_users() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t count(int64_t user) const { return offsets[user + 1] - offsets[user]; }
  /// Returns a copy on the GPU, made by the first call.
  const UserItemTensors& on_gpu() const;

 private:
  mutable std::once_flag copied_;
  mutable UserItemTensors there_;
};

using UserItems = std::shared_ptr<const UserItemTable>;

/// Makes a table from the items and grades of all users, where those of user u (from 0) are by_user[starts[u]] to
/// by_user[starts[u + 1] - 1], in any order. Duplicates are merged and keep the larger grade.
UserItems user_item_table(const std::vector<int64_t>& starts, std::vector<std::pair<int64_t, float>> by_user,
                          int64_t all_items);

/// Makes a table from the pairs that `each` passes to its argument, a function of user and item (from 1) and grade.
/// `each` is called twice, so that no list of pairs takes memory.
template <class Each>
UserItems user_item_table(int64_t all_users, int64_t all_items, const Each& each) {
  std::vector<int64_t> starts(static_cast<size_t>(all_users) + 1, 0);
  each([&](int64_t user, int64_t, float) { ++starts[user]; });
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  std::vector<std::pair<int64_t, float>> by_user(static_cast<size_t>(starts.back()));
  std::vector<int64_t> next = starts;
  each([&](int64_t user, int64_t item, float grade) { by_user[next[user - 1]++] = {item, grade}; });
  return user_item_table(starts, std::move(by_user), all_items);
}

/// Throws unless there is a user for each list and an item for each row, with numbers up to these.
void check_users_and_items(const Tensor& users, const Tensor& items, const Lists& lists, int64_t all_users,
                           int64_t all_items);

std::vector<int64_t> users_of_items(const UserItemTable& table);

template <>
inline constexpr const char* lua::class_name<UserItems> = "mr.UserItems";

}  // namespace mr
