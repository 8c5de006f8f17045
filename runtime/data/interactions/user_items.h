// The items of each user, with grades: for example relevant items, or known items.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "runtime/lua/type_names.h"

namespace mr {

/// The items of user u (from 0) are items[offsets[u]] .. items[offsets[u + 1] - 1], ascending, counted from 1.
struct UserItemTable {
  std::vector<int64_t> offsets, items;
  std::vector<float> grades;
  int64_t all_items = 0;

  int64_t all_users() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t count(int64_t user) const { return offsets[user + 1] - offsets[user]; }
};

using UserItems = std::shared_ptr<const UserItemTable>;

struct UserItem {
  int64_t user, item;  // numbers of user and item, from 1
  float grade;
};

/// A table of the given pairs. Duplicates are merged and keep the larger grade.
UserItems user_item_table(std::vector<UserItem> pairs, int64_t all_users, int64_t all_items);

std::vector<int64_t> users_of_items(const UserItemTable& table);

template <>
inline constexpr const char* lua::class_name<UserItems> = "mr.UserItems";

}  // namespace mr
