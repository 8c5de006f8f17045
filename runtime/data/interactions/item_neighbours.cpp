// A model of item neighbours. Two items are near if many users have both: their similarity is the cosine of their
// columns in the binary matrix of users and items. Only the nearest neighbours of each item are stored, not a matrix of
// items by items.
#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <Eigen/SparseCore>

#include "kernels/core/rng.h"
#include "kernels/core/threads.h"
#include "runtime/data/interactions/user_items.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

using Sparse = Eigen::SparseMatrix<int32_t, Eigen::RowMajor, int64_t>;

struct Neighbour {
  double cosine;
  int64_t item;
};

/// Counts the users that an item shares with every other item: one row of X'X at a time, where X is the binary matrix
/// of users and items.
class SharedUsers {
 public:
  SharedUsers(const Sparse& users, const Sparse& items) : users_(users), items_(items), counts_(items.rows(), 0) {}

  /// Calls f(other item, number of common users) for every item that has users in common with `item`, in the order in
  /// which they are found.
  template <class F>
  void each(int64_t item, const F& f) {
    met_.clear();
    for (Sparse::InnerIterator user(items_, item); user; ++user) {
      for (Sparse::InnerIterator other(users_, user.col()); other; ++other) {
        if (counts_[other.col()]++ == 0) met_.push_back(other.col());
      }
    }
    for (const int64_t other : met_) {
      if (other != item) f(other, counts_[other]);
      counts_[other] = 0;
    }
  }

 private:
  const Sparse &users_, &items_;
  std::vector<int32_t> counts_;
  std::vector<int64_t> met_;
};

Sparse matrix_of(const UserItemTable& table) {
  Sparse matrix(table.all_users(), table.all_items);
  matrix.reserve(static_cast<int64_t>(table.items.size()));
  for (int64_t u = 0; u < table.all_users(); ++u) {
    matrix.startVec(u);
    for (int64_t i = table.offsets[u]; i < table.offsets[u + 1]; ++i) matrix.insertBack(u, table.items[i] - 1) = 1;
  }
  matrix.finalize();
  return matrix;
}

/// Item neighbours, stored by neighbour: for every item j, the items that have j among their nearest neighbours,
/// ascending, and their cosines with j. `known` has the items of each user.
struct NeighbourTable {
  UserItems known;
  std::vector<int64_t> offsets, items;
  std::vector<float> cosines;
  std::unique_ptr<ForeignBytes> bytes = nullptr;  // memory of the arrays above
};

using Nearest = std::vector<std::vector<Neighbour>>;

NeighbourTable turned(UserItems known, const Nearest& nearest) {
  NeighbourTable table{.known = std::move(known), .offsets = {}, .items = {}, .cosines = {}};
  table.offsets.assign(nearest.size() + 1, 0);
  for (const auto& own : nearest) {
    for (const Neighbour& each : own) ++table.offsets[each.item];
  }
  for (size_t j = 0; j < nearest.size(); ++j) table.offsets[j + 1] += table.offsets[j];
  table.items.resize(static_cast<size_t>(table.offsets.back()));
  table.cosines.resize(table.items.size());
  std::vector<int64_t> next = table.offsets;
  for (size_t i = 0; i < nearest.size(); ++i) {
    for (const Neighbour& each : nearest[i]) {
      const int64_t at = next[each.item - 1]++;
      table.items[at] = static_cast<int64_t>(i) + 1;
      table.cosines[at] = static_cast<float>(each.cosine);
    }
  }
  return table;
}

}  // namespace

using ItemNeighbours = std::shared_ptr<const NeighbourTable>;
template <>
inline constexpr const char* lua::class_name<ItemNeighbours> = "mr.ItemNeighbours";

namespace {

/// Returns a table whose memory the garbage collector of Lua counts, as long as it lives.
ItemNeighbours counted(NeighbourTable table) {
  const size_t bytes =
      (table.offsets.size() + table.items.size()) * sizeof(int64_t) + table.cosines.size() * sizeof(float);
  table.bytes = std::make_unique<ForeignBytes>(static_cast<int64_t>(bytes));
  return std::make_shared<const NeighbourTable>(std::move(table));
}

/// Returns for every item its k nearest neighbours: the other items with the largest c / (sqrt(n m) + shrink), where n
/// and m are the numbers of users of the two items and c is the number of users who have both. If values are equal, the
/// lower item number is first. Items without a common user are never neighbours.
Nearest nearest_of(const UserItemTable& table, int64_t k, double shrink) {
  const Sparse users = matrix_of(table), items = users.transpose();
  const std::vector<int64_t> counts = users_of_items(table);
  Nearest nearest(counts.size());
  cpu::parallel(table.all_items, 16, [&](int64_t first, int64_t last) {
    SharedUsers shared(users, items);
    for (int64_t item = first; item < last; ++item) {
      cpu::check_interrupt();
      std::vector<Neighbour> own;
      shared.each(item, [&](int64_t other, int32_t both) {
        const double norm = std::sqrt(static_cast<double>(counts[item]) * static_cast<double>(counts[other]));
        own.push_back({both / (norm + shrink), other + 1});
      });
      const auto n = static_cast<int64_t>(std::min<size_t>(own.size(), static_cast<size_t>(k)));
      std::partial_sort(own.begin(), own.begin() + n, own.end(), [](const Neighbour& a, const Neighbour& b) {
        return a.cosine != b.cosine ? a.cosine > b.cosine : a.item < b.item;
      });
      nearest[item].assign(own.begin(), own.begin() + n);
    }
  });
  return nearest;
}

ItemNeighbours item_neighbours(const UserItems& known, int64_t k, double shrink) {
  if (k < 1) throw ArgumentError("k", std::to_string(k) + ", expected at least 1");
  if (!(shrink >= 0) || std::isinf(shrink))
    throw ArgumentError("shrink", number_text(shrink) + ", expected a finite number, 0 or more");
  return counted(turned(known, nearest_of(*known, k, shrink)));
}

/// Computes the scores of all items for one user: for each item of the user, in order, its cosines are added.
class Sums {
 public:
  explicit Sums(const NeighbourTable& table)
      : table_(table), sums_(static_cast<size_t>(table.known->all_items), 0.0F) {}
  void begin(int64_t user) {
    std::fill(sums_.begin(), sums_.end(), 0.0F);
    const UserItemTable& known = *table_.known;
    for (int64_t i = known.offsets[user - 1]; i < known.offsets[user]; ++i) {
      const int64_t own = known.items[i] - 1;
      for (int64_t at = table_.offsets[own]; at < table_.offsets[own + 1]; ++at)
        sums_[table_.items[at] - 1] += table_.cosines[at];
    }
  }
  float operator[](int64_t item) const { return sums_[item - 1]; }

 private:
  const NeighbourTable& table_;
  std::vector<float> sums_;
};

/// Returns the score of every row of the lists. It is the sum of the cosines between the row's item and those items of
/// the user that are among the nearest neighbours of the row's item.
Tensor neighbour_scores(const ItemNeighbours& table, const Tensor& users, const Tensor& items, const Lists& lists) {
  check_users_and_items(users, items, lists, table->known->all_users(), table->known->all_items);
  const Tensor user_of = users.to(Device::cpu), item_of = items.to(Device::cpu);
  const Tensor out = Tensor::empty({lists.rows()}, Dtype::float32);
  const int64_t *const user = user_of.span<int64_t>().data, *const item = item_of.span<int64_t>().data;
  float* const scores = out.span<float>().data;
  cpu::parallel(lists.count(), 8, [&](int64_t first, int64_t last) {
    Sums sums(*table);
    for (int64_t l = first; l < last; ++l) {
      sums.begin(user[l]);
      for (int64_t r = lists.offsets()[l]; r < lists.offsets()[l + 1]; ++r) scores[r] = sums[item[r]];
    }
  });
  return out;
}

/// The tensors of an item-neighbour model that a file stores. `known_counts` and `known_items` are the number of items
/// of each user, and these items. For each item, `counts` is the number of items that have it as a neighbour, and
/// `items` and `cosines` are these items and their cosines.
struct NeighbourState {
  Tensor known_counts, known_items, counts, items, cosines;
  static constexpr auto fields =
      lua::fields("known_counts", &NeighbourState::known_counts, "known_items", &NeighbourState::known_items, "counts",
                  &NeighbourState::counts, "items", &NeighbourState::items, "cosines", &NeighbourState::cosines);
};

Tensor counts_of(const std::vector<int64_t>& offsets) {
  std::vector<int64_t> counts(offsets.size());
  std::adjacent_difference(offsets.begin(), offsets.end(), counts.begin());
  return Tensor::from(std::vector<int64_t>(counts.begin() + 1, counts.end()));
}

NeighbourState state_of(const ItemNeighbours& table) {
  return {counts_of(table->known->offsets), Tensor::from(table->known->items), counts_of(table->offsets),
          Tensor::from(table->items), Tensor::from(table->cosines)};
}

[[noreturn]] void unfit(const char* name, const std::string& why) {
  throw std::invalid_argument("tensor '" + std::string(name) + "' " + why);
}

/// Returns prefix sums of `counts`, beginning with 0. Throws if one is below 0, or if their total is not
/// `entries`.
std::vector<int64_t> offsets_of(const char* name, const Tensor& counts, int64_t entries) {
  std::vector<int64_t> offsets{0};
  for (const int64_t n : counts.to_vector<int64_t>()) {
    if (n < 0 || n > entries - offsets.back())
      unfit(name, "has " + std::to_string(n) + ", expected 0 to " + std::to_string(entries - offsets.back()));
    offsets.push_back(offsets.back() + n);
  }
  if (offsets.back() != entries)
    unfit(name, "has the sum " + std::to_string(offsets.back()) + ", expected " + std::to_string(entries) +
                    ", the number of entries of the tensor that it divides");
  return offsets;
}

/// Reads item numbers and throws unless they are from 1 to `all` and ascend within each part of the tensor, from
/// offsets[i] to offsets[i + 1] - 1.
std::vector<int64_t> ascending(const char* name, const Tensor& items, const std::vector<int64_t>& offsets,
                               int64_t all) {
  std::vector<int64_t> out = items.to_vector<int64_t>();
  for (size_t piece = 0; piece + 1 < offsets.size(); ++piece) {
    int64_t least = 1;
    for (int64_t i = offsets[piece]; i < offsets[piece + 1]; ++i) {
      if (out[i] < least || out[i] > all)
        unfit(name, "has " + std::to_string(out[i]) + ", expected ascending numbers from " + std::to_string(least) +
                        " to " + std::to_string(all));
      least = out[i] + 1;
    }
  }
  return out;
}

/// Builds the item-neighbour model from the tensors that a file stores. All of them are checked, because the file may
/// be damaged.
ItemNeighbours neighbours_of(const Tensor& known_counts, const Tensor& known_items, const Tensor& counts,
                             const Tensor& items, const Tensor& cosines) {
  for (const auto& [name, x] : {std::pair("known_counts", &known_counts), std::pair("known_items", &known_items),
                                std::pair("counts", &counts), std::pair("items", &items)}) {
    if (x->dtype() != Dtype::int64 || x->dims() != 1) unfit(name, "is not an int64 vector");
  }
  if (cosines.dtype() != Dtype::float32 || cosines.dims() != 1 || cosines.entries() != items.entries())
    unfit("cosines", "is not a float32 vector with " + std::to_string(items.entries()) + " entries");
  auto known = std::make_shared<UserItemTable>();
  known->all_items = counts.entries();
  known->offsets = offsets_of("known_counts", known_counts, known_items.entries());
  known->items = ascending("known_items", known_items, known->offsets, known->all_items);
  known->grades.assign(known->items.size(), 1.0F);
  known->count_bytes();
  NeighbourTable table{.known = std::move(known), .offsets = {}, .items = {}, .cosines = cosines.to_vector<float>()};
  table.offsets = offsets_of("counts", counts, items.entries());
  table.items = ascending("items", items, table.offsets, counts.entries());
  for (const float cosine : table.cosines) {
    if (!(cosine >= 0 && cosine <= 1)) unfit("cosines", "has " + number_text(cosine) + ", expected 0 to 1");
  }
  return counted(std::move(table));
}

int64_t pairs_of(const ItemNeighbours& table) { return static_cast<int64_t>(table->items.size()); }

Tensor pair_noise(const Tensor& users, const Tensor& items, const Lists& lists, int64_t seed) {
  constexpr int64_t most = int64_t{1} << 40;
  check_users_and_items(users, items, lists, most, most);
  const Tensor user_of = users.to(Device::cpu), item_of = items.to(Device::cpu);
  const Tensor out = Tensor::empty({lists.rows()}, Dtype::float64);
  const int64_t *const user = user_of.span<int64_t>().data, *const item = item_of.span<int64_t>().data;
  double* const scores = out.span<double>().data;
  const RandomKey key = random_key(static_cast<uint64_t>(seed), "random model");
  cpu::parallel_each(lists.count(), 8, [&](int64_t l) {
    for (int64_t r = lists.offsets()[l]; r < lists.offsets()[l + 1]; ++r) {
      const uint64_t bits = philox(key, static_cast<uint64_t>(item[r]), static_cast<uint64_t>(user[l])).low();
      scores[r] = static_cast<double>(bits >> 11) * 0x1p-53;
    }
  });
  return out;
}

}  // namespace

using lua::op;
extern const lua::OpTable neighbour_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&item_neighbours>("item_neighbours", "known, k, shrink",
                             "For every item, the k nearest items by the cosine of their users."),
        op<&neighbours_of>("neighbours_of", "known_counts, known_items, counts, items, cosines",
                           "Restores neighbours from the tensors of :state. Raises an error if these are wrong."),
        op<&pair_noise>("pair_noise", "users, items, lists, seed",
                        "A uniform random number for each pair of user and item; float64."),
    }};
extern const lua::OpTable neighbour_methods{
    lua::OpTable::methods,
    &lua::push_metatable<ItemNeighbours>,
    {
        op<&neighbour_scores>("scores", "self, users, items, lists",
                              "Score of each row: the sum of the cosines of its item with the user's items near it."),
        op<&state_of>("state", "self", "The neighbours as tensors, for a file."),
    }};
extern const lua::OpTable neighbour_getters{
    lua::OpTable::getters,
    &lua::push_metatable<ItemNeighbours>,
    {op<&pairs_of>("pairs", "self", "Number of pairs of an item and one of its nearest items.")}};

}  // namespace mr
