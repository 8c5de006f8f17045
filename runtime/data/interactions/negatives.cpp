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
constexpr int64_t most_of_few = 32;            // up to so many negatives, each draw looks for its own item

/// Draws uniform integers in [0, n) for one row of a step (Lemire 2019): the product of n and 32 random bits has the
/// integer in its upper half. Lower halves below 2^32 mod n are drawn again, so that no integer is more likely.
class RowDraws {
 public:
  RowDraws(RandomKey key, uint64_t step, uint64_t row, uint64_t n)
      : key_(key), step_(step), row_(row << draw_bits), n_(n), least_(((uint64_t{1} << 32) - n) % n) {}

  /// Writes the draws first to first + count - 1 of the row; first is a multiple of 4.
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

/// number of draws in a block, which fits the L1 cache; a loop over all of its entries is compiled to vectors
constexpr int64_t block = 256;
using Block = std::array<int32_t, block>;

/// Adds to each rank the number of gaps that are not larger than the rank. If there are few gaps, each is compared with
/// all ranks; else a bisection is used, which has no branch that depends on the ranks.
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

void check_negatives(const UserItemTable& table, const Tensor& users, const Tensor& items, int64_t count,
                     int64_t batch) {
  check::index("users", users, table.all_users());
  check::index("items", items, table.all_items);
  if (items.entries() != users.entries())
    throw ArgumentError("items", "has " + std::to_string(items.entries()) + " entries, but users has " +
                                     std::to_string(users.entries()) + "; expected one item for each user");
  if (count < 1 || count > most_negatives)
    throw ArgumentError("count", std::to_string(count) + ", expected 1 to " + std::to_string(most_negatives) +
                                     " negatives for each item");
  if (batch < 1) throw ArgumentError("batch", std::to_string(batch) + ", expected 1 or more");
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

/// Pairs of a user and a relevant item, and where to write their rows. A row is the item, then `count` negatives.
struct Pairs {
  const UserItemTable& table;
  std::vector<int64_t> users, items;
  int64_t count, before;  // `before`: the number of rows of a batch before the first one
  int64_t batch;          // pairs of a batch; the pairs of the first batch belong to `step`, the next ones to the next
  RandomKey key;
  uint64_t step;
  int64_t* out;

  uint64_t step_of(int64_t r) const { return step + static_cast<uint64_t>(r / batch); }

  int64_t* row(int64_t r) const { return out + r * (count + 1); }
  Span<const int64_t> known(int64_t r) const {
    const int64_t begin = table.offsets[users[r] - 1];
    return {table.items.data() + begin, table.offsets[users[r]] - begin};
  }
  RowDraws draws(int64_t r) const {
    const auto unknown = static_cast<uint64_t>(table.all_items - known(r).size);
    return {key, step_of(r), static_cast<uint64_t>(before + r % batch), unknown};
  }
};

/// Returns a guess for the position, among a user's items, of the first one with more than `rank` unknown items below
/// it: the exact position if the items were spread evenly.
int64_t guess_of(Span<const int64_t> known, int64_t rank, int64_t all_items) {
  return rank * known.size / (all_items - known.size);
}

/// Returns how many of a user's items have at most `rank` unknown items below them. The search goes up or down from
/// `guess` by growing steps, then halves what is left: it reads few of the items.
int64_t known_before(Span<const int64_t> known, int64_t rank, int64_t guess) {
  int64_t low = 0, high = known.size;
  int64_t next = guess, step = 2;
  while (low < high) {
    const bool is_before = known[next] - 1 - next <= rank;
    (is_before ? low : high) = is_before ? next + 1 : next;
    next += is_before ? step : -step;
    step *= 2;
    if (next < low || next >= high) next = (low + high) / 2;
  }
  return low;
}

/// Writes rows with few negatives each. First it draws the rank, among unknown items, of every negative, so that the
/// user's items that are compared with it are in the cache when its turn comes.
void write_few_negatives(const Pairs& pairs, int64_t first, int64_t last) {
  const int64_t all_items = pairs.table.all_items;
  std::array<int32_t, most_of_few> ranks{};
  for (int64_t r = first; r < last; ++r) {
    const Span<const int64_t> known = pairs.known(r);
    int64_t* const row = pairs.row(r);
    pairs.draws(r).write(0, pairs.count, ranks.data());
    for (int64_t k = 0; k < pairs.count; ++k) {
      row[k + 1] = ranks[k];
      __builtin_prefetch(known.data + guess_of(known, ranks[k], all_items));
    }
  }
  for (int64_t r = first; r < last; ++r) {
    const Span<const int64_t> known = pairs.known(r);
    int64_t* const row = pairs.row(r);
    row[0] = pairs.items[r];
    for (int64_t k = 1; k <= pairs.count; ++k) {
      row[k] += known_before(known, row[k], guess_of(known, row[k], all_items)) + 1;
    }
  }
}

/// Writes rows with many negatives each.
void write_many_negatives(const Pairs& pairs, int64_t first, int64_t last) {
  std::vector<int32_t> gaps;
  for (int64_t r = first; r < last; ++r) {
    const Span<const int64_t> known = pairs.known(r);
    gaps.clear();
    for (int64_t m = 0; m < known.size; ++m) gaps.push_back(static_cast<int32_t>(known[m] - 1 - m));
    pairs.row(r)[0] = pairs.items[r];
    write_items(pairs.draws(r), gaps, pairs.count, pairs.row(r) + 1);
  }
}

/// Writes rows whose negatives all pairs of a batch share; they are drawn from all items.
void write_shared_negatives(const Pairs& pairs) {
  const auto all = static_cast<int64_t>(pairs.users.size());
  std::vector<int64_t> same(static_cast<size_t>(pairs.count));
  for (int64_t begin = 0; begin < all; begin += pairs.batch) {
    const RowDraws draws(pairs.key, pairs.step_of(begin), 0, static_cast<uint64_t>(pairs.table.all_items));
    write_items(draws, {}, pairs.count, same.data());
    cpu::parallel(std::min(pairs.batch, all - begin), 16, [&](int64_t first, int64_t last) {
      for (int64_t r = begin + first; r < begin + last; ++r) {
        pairs.row(r)[0] = pairs.items[r];
        std::copy(same.begin(), same.end(), pairs.row(r) + 1);
      }
    });
  }
}

/// Returns for each pair of a user and an item the item and `count` negatives: items that the user does not have. The
/// pairs are those of batches of `batch` pairs, of steps `step` and after. `before` is the number of rows of a batch
/// before its first one. `shared`: all pairs of a batch have the same negatives, drawn from all items.
Tensor with_negatives(const UserItems& self, const Tensor& users, const Tensor& items, int64_t count, bool shared,
                      int64_t seed, int64_t step, int64_t before, int64_t batch) {
  check_negatives(*self, users, items, count, batch);
  const Tensor out = Tensor::empty({users.entries() * (count + 1)}, Dtype::int64);
  const char* const purpose = shared ? "shared negatives of a step" : "negatives of interactions";
  const Pairs pairs{*self,
                    users.to_vector<int64_t>(),
                    items.to_vector<int64_t>(),
                    count,
                    before,
                    batch,
                    random_key(static_cast<uint64_t>(seed), purpose),
                    static_cast<uint64_t>(step),
                    out.span<int64_t>().data};
  if (shared) {
    write_shared_negatives(pairs);
    return out;
  }
  check_unseen(*self, pairs.users);
  cpu::parallel(users.entries(), 16, [&](int64_t first, int64_t last) {
    (count <= most_of_few ? write_few_negatives : write_many_negatives)(pairs, first, last);
  });
  return out;
}

struct Interactions {
  Tensor users, items;
  Tensor counts;  // number of items of each user of the table
  static constexpr auto fields =
      lua::fields("users", &Interactions::users, "items", &Interactions::items, "counts", &Interactions::counts);
};

/// Returns the pairs of users and items. Users who have every item are left out, because there is no negative for them.
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
     op<&with_negatives>("with_negatives", "self, users, items, count, shared, seed, step, before, batch",
                         "For each pair of user and item, the item and `count` drawn items; int64.")}};

}  // namespace mr
