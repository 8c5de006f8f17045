// Sampled negatives for training: for each pair of a user and a relevant item, items that the user does not have, drawn
// uniformly with replacement. If the pairs of a batch share their negatives, they are drawn from all items. A draw
// depends only on the seed, the training step and the row of the pair in its batch.
#include "kernels/models/negatives.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/threads.h"
#include "kernels/models/interactions.h"
#include "runtime/data/interactions/dice.h"
#include "runtime/data/interactions/user_items.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"
#include "runtime/tensor/computed_ahead.h"

namespace mr {
namespace {

constexpr int64_t most_negatives = 1'000'000, most_numbers = (int64_t{1} << 31) - 1;
// largest number of negatives per pair for which each negative is searched on its own
constexpr int64_t most_of_few = 32;
static_assert(most_negatives < int64_t{1} << UniformDraws::draw_bits);

/// Returns how many of a user's gaps are at most `rank`.
int64_t count_of(Span<const int32_t> gaps, int32_t rank) {
  return std::upper_bound(gaps.data, gaps.data + gaps.size, rank) - gaps.data;
}

/// Writes up to cpu::negatives_block negatives one after the other: the plain form of NegativeLoops::write.
void write_block(const UniformDraws& draws, int64_t first, Span<const int32_t> gaps, int64_t count, int64_t* out) {
  std::array<int32_t, cpu::negatives_block> ranks{};
  draws.write(first, count, ranks.data());
  for (int64_t k = 0; k < count; ++k) {
    out[k] = ranks[k] + count_of(gaps, ranks[k]) + 1;
  }
}

/// Draws `count` items that a user does not have and writes them to `out`. gaps[m] is the number of such items below
/// the user's m-th item.
void write_items(const UniformDraws& draws, Span<const int32_t> gaps, int64_t count, int64_t* out) {
  const auto write = cpu::chosen_loops<cpu::NegativeLoops>().write;
  for (int64_t d = 0; d < count; d += cpu::negatives_block) {
    const int64_t n = std::min(cpu::negatives_block, count - d);
    if (!write(draws.state(), d, gaps, n, out + d)) write_block(draws, d, gaps, n, out + d);
  }
}

/// What with_negatives draws from: all interactions, and which of them are wanted.
struct Wanted {
  UserItems table;
  Tensor shapes, order;
  // the numbers of both tensors: a thread that computes rows ahead must not make tensors compute theirs
  const int64_t *of_user = shapes.span<const int64_t>().data, *chosen = order.span<const int64_t>().data;

  int64_t count() const { return order.entries(); }
  /// Writes the users of the wanted interactions `first` to last - 1, their entries of `shapes` and their items, which
  /// are the first entries of rows of `width`.
  void write(int64_t first, int64_t last, int64_t width, int64_t* user, int64_t* shape, int64_t* rows) const {
    constexpr int64_t rows_ahead = 32;
    const cpu::LargeVector<UserItem>& pairs = table->pairs();
    for (int64_t r = first; r < last; ++r) {
      __builtin_prefetch(pairs.data() + chosen[std::min(r + rows_ahead, count() - 1)] - 1);
      const auto at = static_cast<uint64_t>(chosen[r] - 1);
      // `order` was checked before, but the caller may have changed it since
      if (at >= pairs.size()) throw ArgumentError("order", "has changed, and has numbers that are not of interactions");
      const UserItem pair = pairs[at];
      user[r] = pair.user;
      shape[r] = of_user[pair.user - 1];
      rows[r * width] = pair.item;
    }
  }
};

void check_numbers(const UserItemTable& table) {
  for (const auto& [what, count] : {std::pair("items", table.all_items), std::pair("users", table.all_users())}) {
    if (count > most_numbers)
      throw ArgumentError(
          "self", "has " + std::to_string(count) + " " + what + ", expected at most " + std::to_string(most_numbers));
  }
}

void check_wanted(const UserItemTable& table, const Tensor& shapes, const Tensor& order, int64_t count, int64_t batch) {
  check_numbers(table);
  for (const auto& [name, x] : {std::pair("shapes", &shapes), std::pair("order", &order)}) {
    check::type(name, *x, Dtype::int64);
    if (x->device() != Device::cpu) throw ArgumentError(name, "is on another device, expected the CPU");
  }
  if (shapes.entries() != table.all_users())
    throw ArgumentError("shapes", std::to_string(shapes.entries()) + " entries, expected one for each of " +
                                      std::to_string(table.all_users()) + " users");
  check::index("order", order, static_cast<int64_t>(table.pairs().size()));
  if (count < 1 || count > most_negatives)
    throw ArgumentError("count", std::to_string(count) + ", expected 1 to " + std::to_string(most_negatives) +
                                     " negatives for each item");
  if (batch < 1) throw ArgumentError("batch", std::to_string(batch) + ", expected 1 or more");
}

/// The draws of a few negatives for each of several consecutive pairs. Their random bits are computed together.
class DrawsOfFew {
  static constexpr int64_t most_fours = 64;

 public:
  static constexpr int64_t most_ranks = most_fours * 4;

  /// number of pairs with `count` negatives each, whose draws fit
  static int64_t most_pairs(int64_t count) { return most_fours / fours_of(count); }

  /// Computes the random bits of the pairs `first` to last - 1.
  void prepare(const InteractionRows& pairs, int64_t first, int64_t last) {
    count_ = pairs.count;
    draws_.clear();
    size_t n = 0;
    int64_t batch = first / pairs.batch, place = first % pairs.batch;
    for (int64_t r = first; r < last; ++r, ++place) {
      if (place == pairs.batch) ++batch, place = 0;
      draws_.push_back(pairs.draws(r, batch, place));
      for (int64_t k = 0; k < count_; k += 4, ++n) {
        blocks_[n] = draws_.back().block_of(k);
        steps_[n] = draws_.back().state().step;
      }
    }
    for (; n % cpu::random_block != 0; ++n) blocks_[n] = steps_[n] = 0;
    cpu::chosen_loops<cpu::NegativeLoops>().random(pairs.key, blocks_.data(), steps_.data(), static_cast<int64_t>(n),
                                                   bits_.data());
  }

  /// Writes the ranks that pair number `pair` draws, counted from 0 among the prepared pairs.
  void write(int64_t pair, int32_t* out) const {
    const Random128* const bits = bits_.data() + pair * fours_of(count_);
    for (int64_t k = 0; k < count_; k += 4) draws_[pair].write_four(bits[k / 4], k, count_ - k, out + k);
  }

 private:
  static_assert(most_fours % cpu::random_block == 0 && most_ranks >= most_of_few);
  static int64_t fours_of(int64_t count) { return (count + 3) / 4; }

  int64_t count_ = 0;
  std::vector<UniformDraws> draws_;
  std::array<uint64_t, most_fours> blocks_, steps_;
  std::array<Random128, most_fours> bits_;
};

/// Requests those gaps of a user from memory that NegativeLoops::items_before reads.
void prefetch_window(Span<const int32_t> gaps, int64_t guess) {
  constexpr int64_t half = cpu::gaps_window / 2;
  for (const int64_t at : {guess - half, guess, guess + half - 1}) __builtin_prefetch(gaps.data + at);
}

Span<const int32_t> gaps_of(const InteractionRows& pairs, int64_t r) { return pairs.gaps_of(r, cpu::gaps_padding); }

/// Writes a few negatives into each row. The negatives of several rows are first drawn as ranks among the
/// items that the user does not have, and the user's gaps near each rank are prefetched. A second pass turns the ranks
/// into items.
void write_few_negatives(const InteractionRows& pairs, int64_t first, int64_t last) {
  const auto near = cpu::chosen_loops<cpu::NegativeLoops>().items_before;
  const int64_t together = DrawsOfFew::most_pairs(pairs.count);
  DrawsOfFew draws;
  std::array<int32_t, DrawsOfFew::most_ranks> ranks{};
  std::array<int64_t, DrawsOfFew::most_ranks> guesses{};
  for (int64_t begin = first; begin < last; begin += together) {
    const int64_t end = std::min(last, begin + together);
    draws.prepare(pairs, begin, end);
    int64_t n = 0;
    for (int64_t r = begin; r < end; ++r) {
      const Span<const int32_t> gaps = gaps_of(pairs, r);
      draws.write(r - begin, ranks.data() + n);
      for (int64_t k = 0; k < pairs.count; ++k, ++n) {
        guesses[n] = guess_of(gaps.size, ranks[n], pairs.all_items);
        prefetch_window(gaps, guesses[n]);
      }
    }
    n = 0;
    for (int64_t r = begin; r < end; ++r) {
      const Span<const int32_t> gaps = gaps_of(pairs, r);
      int64_t* const row = pairs.row(r);
      for (int64_t k = 1; k <= pairs.count; ++k, ++n) {
        const int64_t found = near(gaps, ranks[n], guesses[n]);
        row[k] = ranks[n] + (found >= 0 ? found : count_of(gaps, ranks[n])) + 1;
      }
    }
  }
}

/// Writes many negatives into each row, which are drawn block by block.
void write_many_negatives(const InteractionRows& pairs, int64_t first, int64_t last) {
  for (int64_t r = first; r < last; ++r) {
    write_items(pairs.draws(r), gaps_of(pairs, r), pairs.count, pairs.row(r) + 1);
  }
}

/// Writes the negatives of pairs that share them: all pairs of a batch have the same ones, drawn from all items.
void write_shared_negatives(const InteractionRows& pairs) {
  const int64_t all = pairs.users.size;
  std::vector<int64_t> same(static_cast<size_t>(pairs.count));
  for (int64_t begin = 0; begin < all; begin += pairs.batch) {
    write_items(pairs.draws(begin), {}, pairs.count, same.data());
    cpu::parallel(std::min(pairs.batch, all - begin), 16, [&](int64_t first, int64_t last) {
      for (int64_t r = begin + first; r < begin + last; ++r) std::copy(same.begin(), same.end(), pairs.row(r) + 1);
    });
  }
}

struct Drawn {
  Tensor rows, users, shapes;
  static constexpr auto fields = lua::fields("rows", &Drawn::rows, "users", &Drawn::users, "shapes", &Drawn::shapes);
};

/// Returns rows on the CPU that idle threads compute before they are read.
Drawn drawn_here(const Wanted& wanted, InteractionRows pairs) {
  const int64_t n = wanted.count(), width = pairs.count + 1;
  const Tensor all = Tensor::empty({n * (width + 2)}, Dtype::int64);
  pairs.out = all.span<int64_t>().data;
  int64_t *const users = pairs.out + n * width, *const shapes = users + n;
  pairs.users = {users, n};
  pairs.offsets = wanted.table->offsets.data();
  pairs.known = wanted.table->items.data();
  if (pairs.shared) {
    wanted.write(0, n, width, users, shapes, pairs.out);
    write_shared_negatives(pairs);
  } else {
    const bool few = pairs.count <= most_of_few;
    pairs.gaps = wanted.table->gaps().data();
    ComputedAhead::start(all.storage(), n, few ? DrawsOfFew::most_pairs(pairs.count) : 4,
                         [=](int64_t first, int64_t last) {
                           wanted.write(first, last, width, users, shapes, pairs.out);
                           (few ? write_few_negatives : write_many_negatives)(pairs, first, last);
                         });
  }
  return {all.slice(0, n * width), all.slice(n * width, n), all.slice(n * (width + 1), n)};
}

Drawn drawn_on_gpu(const Wanted& wanted, InteractionRows pairs) {
  const int64_t n = wanted.count();
  std::vector<int64_t> users(static_cast<size_t>(n)), shapes(users), items(users);
  wanted.write(0, n, 1, users.data(), shapes.data(), items.data());
  const auto there = [](const std::vector<int64_t>& x) { return Tensor::from(x, Device::cuda); };
  const Tensor users_there = there(users), items_there = there(items),
               out = Tensor::empty({n * (pairs.count + 1)}, Dtype::int64, Device::cuda);
  const UserItemTensors& table = wanted.table->on_gpu();
  pairs.users = users_there.span<const int64_t>();
  pairs.items = items_there.span<const int64_t>();
  pairs.offsets = table.offsets.span<const int64_t>().data;
  pairs.known = table.items.span<const int64_t>().data;
  pairs.out = out.span<int64_t>().data;
  cuda::write_interactions(pairs);
  return {out, users_there, Tensor::from(shapes)};
}

/// Returns for each of the interactions number order[1], order[2], ... (UserItemTable::pairs) a row: the item and
/// `count` negatives, which are items that the user does not have. Also returns their users, and the entries of
/// `shapes` of these users. The interactions are consecutive batches of `batch` pairs, for training step `step` and the
/// steps after it. If each batch is only a part of a larger one, `before` is the number of pairs that precede this
/// part. If `shared` is true, all pairs of a batch have the same negatives, drawn from all items. The result is the
/// same on each device.
Drawn with_negatives(const UserItems& self, const Tensor& shapes, const Tensor& order, int64_t count, bool shared,
                     int64_t seed, int64_t step, int64_t before, int64_t batch, const std::string& where) {
  check_wanted(*self, shapes, order, count, batch);
  const Wanted wanted{self, shapes, order};
  const InteractionRows pairs{
      .users = {},
      .items = {},
      .offsets = nullptr,
      .known = nullptr,
      .all_items = self->all_items,
      .count = count,
      .before = before,
      .batch = batch,
      .shared = shared,
      .key =
          random_key(static_cast<uint64_t>(seed), shared ? "shared negatives of a step" : "negatives of interactions"),
      .step = static_cast<uint64_t>(step),
      .out = nullptr,
  };
  return (to_device(where) == Device::cpu ? drawn_here : drawn_on_gpu)(wanted, pairs);
}

struct Interactions {
  int64_t count;
  Tensor counts;  // for each user of the table, the number of items
  static constexpr auto fields = lua::fields("count", &Interactions::count, "counts", &Interactions::counts);
};

/// Counts the pairs of a user and an item of the user. Users who have every item are left out, because no negative can
/// be drawn for them.
Interactions interactions(const UserItems& self) {
  check_numbers(*self);
  std::vector<int64_t> counts(static_cast<size_t>(self->all_users()));
  for (int64_t u = 0; u < self->all_users(); ++u) counts[u] = self->count(u);
  return {static_cast<int64_t>(self->pairs().size()), Tensor::from(counts)};
}

}  // namespace

using lua::op;
extern const lua::OpTable negatives_methods{
    lua::OpTable::methods,
    &lua::push_metatable<UserItems>,
    {op<&interactions>("interactions", "self",
                       "Number of pairs of users and items, without those of users who have every item, and the number "
                       "of items of each user."),
     op<&with_negatives>("with_negatives", "self, shapes, order, count, shared, seed, step, before, batch, device",
                         "For each chosen pair of user and item, the item and `count` drawn items; also the pairs' "
                         "users, and entries of `shapes`; int64.")}};

}  // namespace mr
