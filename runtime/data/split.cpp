#include "runtime/data/split.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_map>

#include "kernels/core/rng.h"
#include "kernels/core/threads.h"

namespace mr {
namespace {

/// A sequence of random integers that belongs to one user and one purpose.
class Dice {
 public:
  Dice(RandomKey key, uint64_t lane) : key_(key), lane_(lane) {}
  /// Uniform in [0, n).
  int64_t below(int64_t n) {
    return static_cast<int64_t>(bounded(philox(key_, next_++, lane_).low(), static_cast<uint64_t>(n)));
  }

 private:
  RandomKey key_;
  uint64_t lane_, next_ = 0;
};

template <class T>
void shuffle(std::vector<T>& values, Dice dice) {
  for (auto i = static_cast<int64_t>(values.size()) - 1; i > 0; --i) std::swap(values[i], values[dice.below(i + 1)]);
}

/// `count` different numbers of 0 .. n - 1 in random order: the first steps of a shuffle, of which only the moved
/// entries are stored.
std::vector<int64_t> draw_distinct(int64_t n, int64_t count, Dice dice) {
  std::unordered_map<int64_t, int64_t> moved;
  const auto at = [&](int64_t i) {
    const auto found = moved.find(i);
    return found == moved.end() ? i : found->second;
  };
  std::vector<int64_t> drawn;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t j = i + dice.below(n - i);
    drawn.push_back(at(j));
    moved[j] = at(i);
  }
  return drawn;
}

/// The item of which exactly `rank` items that are not in `known` (ascending, from 1) are smaller.
int64_t unseen_item(const std::vector<int64_t>& known, int64_t rank) {
  // known[i] - 1 - i items before known[i] are unseen
  int64_t low = 0, high = static_cast<int64_t>(known.size());
  while (low < high) {
    const int64_t middle = (low + high) / 2;
    if (known[middle] - 1 - middle <= rank) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return rank + low + 1;
}

void append(Part& part, int64_t user, const std::vector<int64_t>& relevant, const int64_t* negatives,
            int64_t negative_count, Dice dice) {
  if (relevant.empty() && negative_count == 0) return;
  std::vector<std::pair<int64_t, float>> rows;
  for (const int64_t item : relevant) rows.emplace_back(item, 1.0F);
  for (int64_t i = 0; i < negative_count; ++i) rows.emplace_back(negatives[i], 0.0F);
  shuffle(rows, dice);
  part.users.push_back(user);
  part.sizes.push_back(static_cast<int64_t>(rows.size()));
  for (const auto& [item, relevance] : rows) {
    part.items.push_back(item);
    part.relevance.push_back(relevance);
  }
}

// 40, 12 and 12 bits: user, nsr and fold together are the key of a sequence of random numbers
constexpr int64_t most_users = (int64_t{1} << 40) - 1, largest_nsr = 4095;

void check(const FoldOptions& o) {
  const auto fail = [](const std::string& text) { throw std::invalid_argument(text); };
  if (o.folds < 2) fail("k is " + std::to_string(o.folds) + ", expected at least 2 folds");
  if (o.fold < 1 || o.fold > o.folds)
    fail("fold " + std::to_string(o.fold) + ", expected 1 to " + std::to_string(o.folds));
  if (o.nsr < 0 || o.nsr > largest_nsr)
    fail("nsr is " + std::to_string(o.nsr) + ", expected 0 to " + std::to_string(largest_nsr));
  if (!(o.valid >= 0 && o.valid < 1)) fail("valid is " + std::to_string(o.valid) + ", expected a share from 0 to 1");
}

/// How many negatives each part gets: what it asks for, or, where there are fewer, its share by largest remainders
/// (ties: train before valid before test), which is never more.
std::array<int64_t, 3> shares(const std::array<int64_t, 3>& wanted, int64_t there) {
  const int64_t total = wanted[0] + wanted[1] + wanted[2];
  if (total <= there) return wanted;
  std::array<int64_t, 3> given{}, remainder{};
  int64_t left = there;
  for (size_t i = 0; i < 3; ++i) {
    given[i] = there * wanted[i] / total;
    remainder[i] = there * wanted[i] % total;
    left -= given[i];
  }
  for (; left > 0; --left) {
    const auto most = static_cast<size_t>(std::max_element(remainder.begin(), remainder.end()) - remainder.begin());
    ++given[most];
    remainder[most] = -1;
  }
  return given;
}

void add_user(Fold& fold, const FoldOptions& o, int64_t user, const std::vector<int64_t>& known, int64_t all_items) {
  const auto lane = static_cast<uint64_t>(user);
  const uint64_t own_lane = lane | static_cast<uint64_t>(o.nsr) << 40 | static_cast<uint64_t>(o.fold) << 52;
  std::vector<int64_t> dealt = known;
  shuffle(dealt, Dice(random_key(o.seed, "folds"), lane));
  std::array<std::vector<int64_t>, 3> relevant;
  auto& [train, valid, test] = relevant;
  for (size_t i = 0; i < dealt.size(); ++i)
    (static_cast<int64_t>(i) % o.folds == o.fold - 1 ? test : train).push_back(dealt[i]);
  if (o.valid > 0 && train.size() >= 2) {
    const auto share = std::llround(o.valid * static_cast<double>(train.size()));
    const auto n = std::clamp<int64_t>(share, 1, static_cast<int64_t>(train.size()) - 1);
    valid.assign(train.begin(), train.begin() + n);
    train.erase(train.begin(), train.begin() + n);
  }
  std::array<int64_t, 3> wanted{};
  for (size_t i = 0; i < 3; ++i) wanted[i] = o.nsr * static_cast<int64_t>(relevant[i].size());
  const int64_t unseen = all_items - static_cast<int64_t>(known.size());
  const std::array<int64_t, 3> counts = shares(wanted, unseen);
  if (counts != wanted) ++fold.short_users;
  std::vector<int64_t> negatives =
      draw_distinct(unseen, counts[0] + counts[1] + counts[2], Dice(random_key(o.seed, "negatives"), own_lane));
  for (int64_t& item : negatives) item = unseen_item(known, item);
  Part* const parts[] = {&fold.train, &fold.valid, &fold.test};
  const char* const orders[] = {"order of train", "order of valid", "order of test"};
  const int64_t* next = negatives.data();
  for (size_t i = 0; i < 3; ++i) {
    append(*parts[i], user, relevant[i], next, counts[i], Dice(random_key(o.seed, orders[i]), own_lane));
    next += counts[i];
  }
}

/// An item, and in the lowest bit whether it is relevant.
using Rated = uint64_t;
Rated rated(int64_t item, bool relevant) { return static_cast<Rated>(item) << 1 | (relevant ? 1 : 0); }
int64_t item_of(Rated rated) { return static_cast<int64_t>(rated >> 1); }

/// The user's relevant items, ascending; each item may be there once.
std::vector<int64_t> relevant_items(int64_t user, Rated* first, Rated* last) {
  std::sort(first, last);
  std::vector<int64_t> items;
  for (const Rated* at = first; at < last; ++at) {
    if (at > first && item_of(*at) == item_of(at[-1])) {
      throw std::invalid_argument("user " + std::to_string(user) + " has item " + std::to_string(item_of(*at)) +
                                  " more than once, expected each pair once");
    }
    if ((*at & 1) != 0) items.push_back(item_of(*at));
  }
  return items;
}

/// Where each user's rows begin, and the end, once they are in the order of users; throws for users and items that are
/// not there.
std::vector<size_t> starts_of_users(const std::vector<int64_t>& user, const std::vector<int64_t>& item,
                                    int64_t all_users, int64_t all_items) {
  std::vector<size_t> starts(static_cast<size_t>(all_users) + 1);
  for (size_t i = 0; i < user.size(); ++i) {
    if ((i & 0xFFFFF) == 0) cpu::check_interrupt();
    if (user[i] < 1 || user[i] > all_users || item[i] < 1 || item[i] > all_items) {
      throw std::invalid_argument("row " + std::to_string(i + 1) + " has user " + std::to_string(user[i]) +
                                  " and item " + std::to_string(item[i]) + ", expected users 1 to " +
                                  std::to_string(all_users) + " and items 1 to " + std::to_string(all_items));
    }
    ++starts[user[i]];
  }
  std::partial_sum(starts.begin(), starts.end(), starts.begin());
  return starts;
}

}  // namespace

Positives positives_of(const std::vector<int64_t>& user, const std::vector<int64_t>& item,
                       const std::vector<float>& value, int64_t all_users, int64_t all_items, double threshold,
                       int64_t min_relevant) {
  if (user.size() != item.size() || user.size() != value.size()) {
    throw std::invalid_argument(std::to_string(user.size()) + " users, " + std::to_string(item.size()) + " items and " +
                                std::to_string(value.size()) + " ratings, expected one of each per row");
  }
  if (all_users < 0 || all_users > most_users) {
    throw std::invalid_argument(std::to_string(all_users) + " users, expected 0 to " + std::to_string(most_users));
  }
  const std::vector<size_t> starts = starts_of_users(user, item, all_users, all_items);
  std::vector<Rated> by_user(user.size());
  std::vector<size_t> next = starts;
  for (size_t i = 0; i < user.size(); ++i) by_user[next[user[i] - 1]++] = rated(item[i], value[i] >= threshold);
  Positives out;
  out.all_items = all_items;
  out.offsets.push_back(0);
  for (int64_t u = 0; u < all_users; ++u) {
    cpu::check_interrupt();
    const std::vector<int64_t> items =
        relevant_items(u + 1, by_user.data() + starts[u], by_user.data() + starts[u + 1]);
    if (static_cast<int64_t>(items.size()) < std::max<int64_t>(min_relevant, 1)) continue;
    out.users.push_back(u + 1);
    out.items.insert(out.items.end(), items.begin(), items.end());
    out.offsets.push_back(static_cast<int64_t>(out.items.size()));
  }
  return out;
}

Fold make_fold(const Positives& positives, const FoldOptions& options) {
  check(options);
  Fold fold;
  for (size_t u = 0; u < positives.users.size(); ++u) {
    cpu::check_interrupt();
    const std::vector<int64_t> known(positives.items.begin() + positives.offsets[u],
                                     positives.items.begin() + positives.offsets[u + 1]);
    add_user(fold, options, positives.users[u], known, positives.all_items);
  }
  return fold;
}

}  // namespace mr
