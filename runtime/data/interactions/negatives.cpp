// Sampled negatives of interactions: for each pair of a user and a relevant item, items drawn uniformly with
// replacement. A draw depends only on the seed, the training step and the row of the interaction in its batch.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "kernels/core/threads.h"
#include "runtime/data/interactions/dice.h"
#include "runtime/data/interactions/user_items.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/check.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

constexpr int64_t most_negatives = 1'000'000, most_items = (int64_t{1} << 31) - 1;
constexpr int draw_bits = 20, step_bits = 40;  // negatives of a row and steps have fewer bits than these

/// Draws uniform integers in [0, n) for one row of a step (Lemire 2019): the product of n and 32 random bits has the
/// integer in its upper half. Lower halves below 2^32 mod n are drawn again, so that no integer is more likely.
class RowDraws {
 public:
  RowDraws(RandomKey key, uint64_t step, uint64_t row, uint64_t n)
      : key_(key), step_(step), row_(row << draw_bits), n_(n), least_(((uint64_t{1} << 32) - n) % n) {}

  /// Writes draws first to first + count - 1; first is a multiple of 4.
  void write(int64_t first, int64_t count, int32_t* out) const {
    for (int64_t d = 0; d < count; d += 4) {
      const Random128 bits = philox(key_, row_ | static_cast<uint64_t>((first + d) / 4), step_);
      for (int64_t k = 0; k < 4 && d + k < count; ++k) {
        const uint64_t product = bits.word[k] * n_;
        out[d + k] = static_cast<int32_t>((product & 0xFFFFFFFFULL) >= least_ ? product >> 32 : again(first + d + k));
      }
    }
  }

 private:
  uint64_t again(int64_t draw) const {
    for (uint64_t attempt = 1;; ++attempt) {
      const Random128 bits = philox(key_, row_ | static_cast<uint64_t>(draw), step_ | attempt << step_bits);
      const uint64_t product = bits.word[0] * n_;
      if ((product & 0xFFFFFFFFULL) >= least_) return product >> 32;
    }
  }

  RandomKey key_;
  uint64_t step_, row_, n_, least_;
};

/// A block of draws, which fits the L1 cache. A loop over all of its entries is a loop over vectors.
constexpr int64_t block = 256;
using Block = std::array<int32_t, block>;

/// Adds to each rank the number of gaps that are not larger. For few gaps, the gaps are compared one by one with all
/// ranks; else a bisection, which has no branch that depends on the ranks.
void add_smaller(const std::vector<int32_t>& gaps, Block& ranks) {
  constexpr size_t few = 64;
  Block before{};
  if (gaps.size() <= few) {
    for (const int32_t gap : gaps) {
      for (size_t k = 0; k < block; ++k) before[k] += static_cast<int32_t>(gap <= ranks[k]);
    }
  } else {
    for (size_t k = 0; k < block; ++k) {
      const int32_t* base = gaps.data();
      auto left = static_cast<int64_t>(gaps.size());
      while (left > 1) {
        const int64_t half = left / 2;
        base += base[half - 1] <= ranks[k] ? half : 0;
        left -= half;
      }
      before[k] = static_cast<int32_t>(base - gaps.data()) + static_cast<int32_t>(*base <= ranks[k]);
    }
  }
  for (size_t k = 0; k < block; ++k) ranks[k] += before[k];
}

/// Writes `count` items that a user does not have. `gaps[m]` is the number of such items below the user's m-th item.
void write_items(const RowDraws& draws, const std::vector<int32_t>& gaps, int64_t count, int64_t* out) {
  Block ranks{};
  for (int64_t d = 0; d < count; d += block) {
    const int64_t n = std::min(block, count - d);
    draws.write(d, n, ranks.data());
    add_smaller(gaps, ranks);
    for (int64_t k = 0; k < n; ++k) out[d + k] = ranks[k] + int64_t{1};
  }
}

void check_negatives(const UserItemTable& table, const Tensor& users, const Tensor& items, int64_t count) {
  check::index("users", users, table.all_users());
  check::index("items", items, table.all_items);
  if (items.entries() != users.entries())
    throw ArgumentError("items", "has " + std::to_string(items.entries()) + " entries, but users has " +
                                     std::to_string(users.entries()) + "; expected one item for each user");
  if (count < 1 || count > most_negatives)
    throw ArgumentError("count", std::to_string(count) + ", expected 1 to " + std::to_string(most_negatives));
  if (table.all_items > most_items)
    throw ArgumentError(
        "self", "has " + std::to_string(table.all_items) + " items, expected at most " + std::to_string(most_items));
}

void check_unseen(const UserItemTable& table, const std::vector<int64_t>& users) {
  for (const int64_t user : users) {
    if (table.count(user - 1) == table.all_items)
      throw ArgumentError("users", "has user " + std::to_string(user) + ", who has all " +
                                       std::to_string(table.all_items) + " items, so that there is no negative");
  }
}

/// For each pair of a user and an item, the item and `count` negatives: items that the user does not have. `before` is
/// the number of rows of the batch before the first one. `shared`: all pairs have the same negatives, drawn from all
/// items.
Tensor with_negatives(const UserItems& self, const Tensor& users, const Tensor& items, int64_t count, bool shared,
                      int64_t seed, int64_t step, int64_t before) {
  const UserItemTable& table = *self;
  check_negatives(table, users, items, count);
  const std::vector<int64_t> user = users.to_vector<int64_t>(), item = items.to_vector<int64_t>();
  if (!shared) check_unseen(table, user);
  const Tensor out = Tensor::empty({static_cast<int64_t>(user.size()) * (count + 1)}, Dtype::int64);
  int64_t* const to = out.span<int64_t>().data;
  const RandomKey key =
      random_key(static_cast<uint64_t>(seed), shared ? "shared negatives of a step" : "negatives of interactions");
  const auto at = static_cast<uint64_t>(step);
  std::vector<int64_t> same(static_cast<size_t>(shared ? count : 0));
  if (shared) {
    write_items(RowDraws(key, at, 0, static_cast<uint64_t>(table.all_items)), {}, count, same.data());
  }
  cpu::parallel(static_cast<int64_t>(user.size()), 16, [&](int64_t first, int64_t last) {
    std::vector<int32_t> gaps;
    for (int64_t r = first; r < last; ++r) {
      int64_t* const row = to + r * (count + 1);
      row[0] = item[r];
      if (shared) {
        std::copy(same.begin(), same.end(), row + 1);
        continue;
      }
      const int64_t begin = table.offsets[user[r] - 1], end = table.offsets[user[r]];
      gaps.clear();
      for (int64_t m = begin; m < end; ++m) gaps.push_back(static_cast<int32_t>(table.items[m] - 1 - (m - begin)));
      const RowDraws draws(key, at, static_cast<uint64_t>(before + r),
                           static_cast<uint64_t>(table.all_items - (end - begin)));
      write_items(draws, gaps, count, row + 1);
    }
  });
  return out;
}

struct Interactions {
  Tensor users, items;
  Tensor counts;  // number of items of each user of the table
  static constexpr auto fields =
      lua::fields("users", &Interactions::users, "items", &Interactions::items, "counts", &Interactions::counts);
};

/// The pairs of users and items. Users who have every item are left out, because there is no negative for them.
Interactions interactions(const UserItems& self) {
  const UserItemTable& table = *self;
  std::vector<int64_t> users, items, counts;
  for (int64_t u = 0; u < table.all_users(); ++u) {
    counts.push_back(table.count(u));
    if (counts.back() == table.all_items) continue;
    users.insert(users.end(), static_cast<size_t>(counts.back()), u + 1);
    items.insert(items.end(), table.items.begin() + table.offsets[u], table.items.begin() + table.offsets[u + 1]);
  }
  return {Tensor::from(users), Tensor::from(items), Tensor::from(counts)};
}

}  // namespace

using lua::op;
extern const lua::OpTable negatives_methods{
    lua::OpTable::methods,
    &lua::push_metatable<UserItems>,
    {op<&interactions>("interactions", "self",
                       "All pairs of users and items, except those of users who have every item, and the number of "
                       "items of each user."),
     op<&with_negatives>("with_negatives", "self, users, items, count, shared, seed, step, before",
                         "For each pair of user and item, the item and `count` drawn items; int64.")}};

}  // namespace mr
