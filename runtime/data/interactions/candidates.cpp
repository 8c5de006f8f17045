// Candidate lists: for each user, the list of items that a model ranks. They are created for one block of users after
// another.
#include <algorithm>
#include <optional>
#include <string>

#include "kernels/core/threads.h"
#include "kernels/ranking/rows.h"
#include "runtime/data/interactions/dice.h"
#include "runtime/data/interactions/user_items.h"
#include "runtime/ops/argument_checks.h"
#include "runtime/ops/lists.h"

namespace mr {
namespace {

struct Candidates {
  Lists lists;
  Tensor users, items;
  Tensor unseen;  // only for lists with sampled items: for each list, the number of items from which they were drawn
  static constexpr auto fields = lua::fields("lists", &Candidates::lists, "users", &Candidates::users, "items",
                                             &Candidates::items, "unseen", &Candidates::unseen);
};

void check_tables(const Tensor& users, const UserItems& targets, const UserItems& excluded) {
  check::index("users", users, targets->all_users());
  if (targets->all_users() != excluded->all_users() || targets->all_items != excluded->all_items)
    throw ArgumentError("excluded", "has " + std::to_string(excluded->all_users()) + " users and " +
                                        std::to_string(excluded->all_items) + " items, but targets has " +
                                        std::to_string(targets->all_users()) + " users and " +
                                        std::to_string(targets->all_items) + " items, expected equal numbers");
}

/// Iterates over the items of one user in ascending order.
struct Items {
  const UserItemTable& table;
  int64_t at, end;
  Items(const UserItemTable& table, int64_t user)
      : table(table), at(table.offsets[user - 1]), end(table.offsets[user]) {}
  /// Returns true if `item` is one of the user's items. From call to call, `item` must ascend.
  bool has(int64_t item) {
    while (at < end && table.items[at] < item) ++at;
    return at < end && table.items[at] == item;
  }
  float grade() const { return table.grades[at]; }
};

/// Returns the user's items that are excluded and are not relevant (targets), ascending.
std::vector<int64_t> left_out(const UserItemTable& targets, const UserItemTable& excluded, int64_t user) {
  Items relevant(targets, user);
  std::vector<int64_t> out;
  for (int64_t i = excluded.offsets[user - 1]; i < excluded.offsets[user]; ++i) {
    if (!relevant.has(excluded.items[i])) out.push_back(excluded.items[i]);
  }
  return out;
}

/// Returns for each user a list of all items except the excluded ones, ascending. Relevant items (targets) are never
/// excluded. The item numbers are written on `device`.
Candidates catalogue_lists(const Tensor& users, const UserItems& targets, const UserItems& excluded,
                           const std::string& device) {
  check_tables(users, targets, excluded);
  const Device on = to_device(device);
  const int64_t all_items = targets->all_items;
  const std::vector<int64_t> of = users.to_vector<int64_t>();
  std::vector<int64_t> sizes, out, gaps{0};
  int64_t rows = 0;
  for (const int64_t user : of) {
    const std::vector<int64_t> own = left_out(*targets, *excluded, user);
    out.insert(out.end(), own.begin(), own.end());
    gaps.push_back(static_cast<int64_t>(out.size()));
    sizes.push_back(all_items - static_cast<int64_t>(own.size()));
    rows += sizes.back();
  }
  std::vector<float> relevance(static_cast<size_t>(rows), 0.0F);
  for (size_t l = 0, at = 0; l < of.size(); at += static_cast<size_t>(sizes[l++])) {
    for (int64_t i = targets->offsets[of[l] - 1]; i < targets->offsets[of[l]]; ++i) {
      const int64_t item = targets->items[i];
      const auto before =
          std::lower_bound(out.begin() + gaps[l], out.begin() + gaps[l + 1], item) - out.begin() - gaps[l];
      relevance[at + static_cast<size_t>(item - 1 - before)] = targets->grades[i];
    }
  }
  const auto count = static_cast<int64_t>(sizes.size());
  Lists lists(std::move(sizes), std::move(relevance));
  const Tensor items = Tensor::empty({lists.rows()}, Dtype::int64, on);
  const Tensor offsets = Tensor::from(gaps, on), excluded_items = Tensor::from(out, on);
  kernels<MetricKernels<double>>(on).catalogue_items(count, {.lists = lists.view(on),
                                                             .excluded = {offsets.span<const int64_t>().data, count},
                                                             .left_out = excluded_items.span<const int64_t>(),
                                                             .all = all_items,
                                                             .items = items.span<int64_t>()});
  return {std::move(lists), users, items, Tensor::empty({0}, Dtype::int64)};
}

/// Draws negatives for candidate lists: items that are neither relevant (targets) nor excluded, without replacement.
class Negatives {
 public:
  Negatives(const UserItems& targets, const UserItems& excluded, const UserItems& counted, int64_t count, bool popular,
            uint64_t seed)
      : targets_(*targets),
        excluded_(*excluded),
        count_(count),
        key_(random_key(seed, popular ? "popular candidates" : "candidates")) {
    if (!popular) return;
    const std::vector<int64_t> counts = users_of_items(*counted);
    cumulative_.push_back(0);
    for (const int64_t n : counts) cumulative_.push_back(cumulative_.back() + n);
    with_users_ = static_cast<int64_t>(counts.size()) - std::count(counts.begin(), counts.end(), 0);
  }

  /// Returns the user's relevant items (targets) and excluded items, ascending.
  std::vector<int64_t> known_to(int64_t user) const {
    std::vector<int64_t> known(targets_.items.begin() + targets_.offsets[user - 1],
                               targets_.items.begin() + targets_.offsets[user]);
    known.insert(known.end(), excluded_.items.begin() + excluded_.offsets[user - 1],
                 excluded_.items.begin() + excluded_.offsets[user]);
    std::sort(known.begin(), known.end());
    known.erase(std::unique(known.begin(), known.end()), known.end());
    return known;
  }

  /// Draws `count_` negatives for a user, or fewer if there are not enough items. `draw` numbers the lists of this
  /// user, so that each one gets a draw of its own.
  std::vector<int64_t> draw(int64_t user, const std::vector<int64_t>& known, int64_t draw) const {
    const Dice dice(key_, static_cast<uint64_t>(user) | static_cast<uint64_t>(draw) << 40);
    if (!cumulative_.empty()) return by_popularity(known, dice);
    const int64_t unseen = targets_.all_items - static_cast<int64_t>(known.size());
    std::vector<int64_t> drawn = draw_distinct(unseen, std::min(count_, unseen), dice);
    for (int64_t& item : drawn) item = unseen_item(known, item);
    return drawn;
  }

 private:
  /// Draws items one by one with probability proportional to their popularity, the number of users who have the item.
  /// Items in `known` or drawn before are rejected.
  std::vector<int64_t> by_popularity(std::vector<int64_t> known, Dice dice) const {
    int64_t there = with_users_;
    for (const int64_t item : known) there -= cumulative_[item] > cumulative_[item - 1] ? 1 : 0;
    std::vector<int64_t> drawn;
    const int64_t wanted = std::min(count_, there);
    // The number of tries is limited: if known items have nearly all of the popularity, rejection would not end. Items
    // that are still lacking are then taken in ascending order of item number.
    for (int64_t tries = 0; static_cast<int64_t>(drawn.size()) < wanted && tries < 1000 * (wanted + 1); ++tries) {
      const int64_t ticket = dice.below(cumulative_.back());
      add(std::upper_bound(cumulative_.begin(), cumulative_.end(), ticket) - cumulative_.begin(), known, drawn);
    }
    for (int64_t item = 1; static_cast<int64_t>(drawn.size()) < wanted; ++item) {
      if (cumulative_[item] > cumulative_[item - 1]) add(item, known, drawn);
    }
    return drawn;
  }
  static void add(int64_t item, std::vector<int64_t>& known, std::vector<int64_t>& drawn) {
    const auto at = std::lower_bound(known.begin(), known.end(), item);
    if (at != known.end() && *at == item) return;
    known.insert(at, item);
    drawn.push_back(item);
  }

  const UserItemTable &targets_, &excluded_;
  int64_t count_;
  RandomKey key_;
  // prefix sums of the items' numbers of users, for draws by popularity; empty if draws are uniform
  std::vector<int64_t> cumulative_;
  int64_t with_users_ = 0;
};

/// Returns for each user a list of the relevant items (targets) and `count` sampled items, or fewer if there are not
/// enough. If `each` is true, every relevant item gets a list and samples of its own. If `popular` is true, items are
/// sampled by popularity: the number of users who have the item in `counted`, by default in `excluded`.
Candidates sampled_lists(const Tensor& users, const UserItems& targets, const UserItems& excluded, int64_t count,
                         bool popular, bool each, int64_t seed, const std::optional<UserItems>& counted) {
  check_tables(users, targets, excluded);
  if (counted) check_tables(users, targets, *counted);
  constexpr int64_t most = 1'000'000;
  if (count < 1 || count > most)
    throw ArgumentError("count", std::to_string(count) + ", expected 1 to " + std::to_string(most));
  const Negatives negatives(targets, excluded, counted ? *counted : excluded, count, popular,
                            static_cast<uint64_t>(seed));
  std::vector<int64_t> owners, sizes, items, unseen;
  std::vector<float> relevance;
  const auto add = [&](int64_t user, int64_t first, int64_t last) {
    cpu::check_interrupt();
    const std::vector<int64_t> known = negatives.known_to(user);
    const std::vector<int64_t> drawn = negatives.draw(user, known, each ? first - targets->offsets[user - 1] : 0);
    items.insert(items.end(), targets->items.begin() + first, targets->items.begin() + last);
    items.insert(items.end(), drawn.begin(), drawn.end());
    relevance.insert(relevance.end(), targets->grades.begin() + first, targets->grades.begin() + last);
    relevance.resize(items.size(), 0.0F);
    owners.push_back(user);
    unseen.push_back(targets->all_items - static_cast<int64_t>(known.size()));
    sizes.push_back(last - first + static_cast<int64_t>(drawn.size()));
  };
  for (const int64_t user : users.to_vector<int64_t>()) {
    const int64_t first = targets->offsets[user - 1], last = targets->offsets[user];
    if (!each) add(user, first, last);
    for (int64_t i = first; each && i < last; ++i) add(user, i, i + 1);
  }
  return {Lists(std::move(sizes), std::move(relevance)), Tensor::from(owners), Tensor::from(items),
          Tensor::from(unseen)};
}

}  // namespace

using lua::op;
extern const lua::OpTable candidate_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&catalogue_lists>("catalogue_lists", "users, targets, excluded, device",
                             "For each user, all items but the excluded ones, ascending. Targets are relevant."),
        op<&sampled_lists>("sampled_lists", "users, targets, excluded, count, popular, each, seed, counted",
                           "For each user, or each of its targets, the targets with sampled items. `counted` is the "
                           "table that defines popularity, by default `excluded`."),
    }};

}  // namespace mr
