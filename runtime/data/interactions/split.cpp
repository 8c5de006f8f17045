#include "runtime/data/interactions/split.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <stdexcept>
#include <string>
#include <unordered_set>

#include "kernels/core/threads.h"
#include "runtime/data/interactions/dice.h"
#include "runtime/data/interactions/protocols.h"

namespace mr {
namespace {

using Rows = std::vector<std::pair<int64_t, float>>;  // rows of a list: pairs of an item and its grade

void append(Part& part, int64_t user, Rows rows, const int64_t* negatives, int64_t negative_count, Dice dice) {
  if (rows.empty() && negative_count == 0) return;
  for (int64_t i = 0; i < negative_count; ++i) rows.emplace_back(negatives[i], 0.0F);
  shuffle(rows, dice);
  part.users.push_back(user);
  part.sizes.push_back(static_cast<int64_t>(rows.size()));
  for (const auto& [item, relevance] : rows) {
    part.items.push_back(item);
    part.relevance.push_back(relevance);
  }
}

constexpr int64_t largest_nsr = 4095;

void check_options(const FoldOptions& o) {
  const auto fail = [](const std::string& text) { throw std::invalid_argument(text); };
  if (o.folds < 2 && (o.by == SplitBy::user || o.by == SplitBy::cold_user || o.by == SplitBy::cold_item))
    fail("k is " + std::to_string(o.folds) + ", expected at least 2 folds");
  if (o.fold < 1 || o.fold > o.folds)
    fail("fold " + std::to_string(o.fold) + ", expected 1 to " + std::to_string(o.folds));
  if (o.nsr < 0 || o.nsr > largest_nsr)
    fail("nsr is " + std::to_string(o.nsr) + ", expected 0 to " + std::to_string(largest_nsr));
  if (!(o.valid >= 0 && o.valid < 1))
    fail("valid is " + std::to_string(o.valid) + ", expected a share of at least 0 and below 1");
}

/// Returns how many negatives the train, validation and test part of a user get. If fewer unseen items are `there` than
/// wanted, they are shared in proportion, by largest remainders (if equal, train is before validation before test).
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

struct Known {
  int64_t user;
  std::vector<int64_t> items;         // items of the user, ascending
  size_t at;                          // index of the user's first item in the array of all users' relevant items
  std::vector<int64_t> no_negatives;  // items that are never drawn as negatives of the user, ascending
};

using Three = std::array<Rows, 3>;  // a user's pairs of item and grade in the train, validation and test part

/// Returns how many of a user's `count` items are in train, validation and test, if they are assigned to the folds in
/// rotation.
std::array<int64_t, 3> dealt_counts(const FoldOptions& o, int64_t count) {
  const int64_t test = (count - o.fold + o.folds) / o.folds;
  const int64_t valid = rounded_share(o.valid, static_cast<size_t>(count - test));
  return {count - valid - test, valid, test};
}

/// Shuffles the positions 0 .. count - 1 of a user's items and assigns them to the folds in rotation. Returns the
/// positions in the train, validation and test part.
std::array<std::vector<size_t>, 3> dealt_places(const FoldOptions& o, int64_t user, size_t count) {
  std::vector<size_t> rows(count);
  std::iota(rows.begin(), rows.end(), size_t{0});
  shuffle(rows, Dice(random_key(o.seed, "folds"), static_cast<uint64_t>(user)));
  std::array<std::vector<size_t>, 3> parts;
  auto& [train, valid, test] = parts;
  for (size_t i = 0; i < rows.size(); ++i)
    (static_cast<int64_t>(i) % o.folds == o.fold - 1 ? test : train).push_back(rows[i]);
  const int64_t n = dealt_counts(o, static_cast<int64_t>(count))[1];
  valid.assign(train.begin(), train.begin() + n);
  train.erase(train.begin(), train.begin() + n);
  return parts;
}

/// Divides a user's items, with grades, into train, validation and test. Shuffled items are assigned to the folds in
/// rotation: one fold is test, a share of the other items is validation, and the rest is train.
Three dealt(const FoldOptions& o, const Positives& p, const Known& known) {
  const auto places = dealt_places(o, known.user, known.items.size());
  Three parts;
  for (size_t part = 0; part < parts.size(); ++part) {
    for (const size_t i : places[part])
      parts[part].emplace_back(known.items[i], p.grades.empty() ? 1.0F : p.grades[known.at + i]);
  }
  return parts;
}

/// Returns a user's items, with grades, in train, validation and test. `part_of` says to which part a split method of
/// protocols.h has assigned each item.
Three by_parts(const std::vector<int8_t>& part_of, const Positives& p, const Known& known) {
  Three parts;
  for (size_t i = 0; i < known.items.size(); ++i) {
    const size_t at = known.at + i;
    parts[static_cast<size_t>(part_of[at])].emplace_back(known.items[i], p.grades.empty() ? 1.0F : p.grades[at]);
  }
  return parts;
}

/// The input of one fold: the relevant interactions, the options, and the part (train, validation, test) of each
/// interaction.
struct Making {
  const Positives& positives;
  const FoldOptions& options;
  // for each interaction its part: train, validation or test; empty if items are assigned to folds in rotation
  const std::vector<int8_t> part_of;
  // for each part, the items from which its negatives are drawn; empty if they are drawn from all items
  const std::array<std::vector<int64_t>, 3> pools = {};
};

/// The negatives of a user: `items` has first those of train, then of validation, then of test, and `counts` their
/// numbers.
struct NegativesOfParts {
  std::vector<int64_t> items;
  std::array<int64_t, 3> counts;
};

NegativesOfParts from_all(const Making& m, const Known& known, const std::array<int64_t, 3>& wanted, uint64_t lane) {
  const int64_t unseen = m.positives.all_items - static_cast<int64_t>(known.no_negatives.size());
  NegativesOfParts out{{}, shares(wanted, unseen)};
  out.items = draw_distinct(unseen, out.counts[0] + out.counts[1] + out.counts[2],
                            Dice(random_key(m.options.seed, "negatives"), lane));
  for (int64_t& item : out.items) item = unseen_item(known.no_negatives, item);
  return out;
}

NegativesOfParts from_pools(const Making& m, const Known& known, const std::array<int64_t, 3>& wanted, uint64_t lane) {
  constexpr const char* streams[] = {"negatives of train", "negatives of valid", "negatives of test"};
  NegativesOfParts out{{}, wanted};
  for (size_t i = 0; i < 3; ++i) {
    const std::vector<int64_t>& pool = m.pools[i];
    std::vector<int64_t> places;  // positions in the pool, counted from 1, of items that must not be drawn
    for (const int64_t item : known.no_negatives) {
      const auto at = std::lower_bound(pool.begin(), pool.end(), item);
      if (at != pool.end() && *at == item) places.push_back(at - pool.begin() + 1);
    }
    const auto unseen = static_cast<int64_t>(pool.size() - places.size());
    out.counts[i] = std::min(wanted[i], unseen);
    for (const int64_t rank : draw_distinct(unseen, out.counts[i], Dice(random_key(m.options.seed, streams[i]), lane)))
      out.items.push_back(pool[static_cast<size_t>(unseen_item(places, rank) - 1)]);
  }
  return out;
}

/// Reserves the memory of the train, validation and test part: what they need or a little more. Vectors that grow step
/// by step would need up to three times as much.
void reserve(Fold& fold, const Making& m) {
  const FoldOptions& o = m.options;
  std::array<int64_t, 3> lists{}, rows{};
  for (size_t u = 0; u < m.positives.users.size(); ++u) {
    const int64_t first = m.positives.offsets[u], last = m.positives.offsets[u + 1];
    std::array<int64_t, 3> own{};
    if (m.part_of.empty()) {
      own = dealt_counts(o, last - first);
    } else {
      for (int64_t i = first; i < last; ++i) ++own[static_cast<size_t>(m.part_of[static_cast<size_t>(i)])];
    }
    for (size_t part = 0; part < own.size(); ++part) {
      lists[part] += own[part] > 0 ? 1 : 0;
      rows[part] += own[part] + std::min(own[part] * o.nsr, m.positives.all_items);
    }
  }
  Part* const parts[] = {&fold.train, &fold.valid, &fold.test};
  for (size_t part = 0; part < rows.size(); ++part) {
    parts[part]->users.reserve(static_cast<size_t>(lists[part]));
    parts[part]->sizes.reserve(static_cast<size_t>(lists[part]));
    parts[part]->items.reserve(static_cast<size_t>(rows[part]));
    parts[part]->relevance.reserve(static_cast<size_t>(rows[part]));
  }
}

void add_user(Fold& fold, const Making& m, const Known& known) {
  const FoldOptions& o = m.options;
  // `lane` selects the sequence of random numbers: 40 bits for the user, 12 bits for nsr (negatives per relevant item)
  // and 12 bits for the fold.
  const uint64_t lane =
      static_cast<uint64_t>(known.user) | static_cast<uint64_t>(o.nsr) << 40 | static_cast<uint64_t>(o.fold) << 52;
  const Three relevant = m.part_of.empty() ? dealt(o, m.positives, known) : by_parts(m.part_of, m.positives, known);
  std::array<int64_t, 3> wanted{};
  for (size_t i = 0; i < 3; ++i) wanted[i] = o.nsr * static_cast<int64_t>(relevant[i].size());
  const bool pooled = o.by == SplitBy::cold_item;
  const NegativesOfParts negatives = pooled ? from_pools(m, known, wanted, lane) : from_all(m, known, wanted, lane);
  if (negatives.counts != wanted) ++fold.short_users;
  Part* const parts[] = {&fold.train, &fold.valid, &fold.test};
  const char* const orders[] = {"order of train", "order of valid", "order of test"};
  const int64_t* next = negatives.items.data();
  for (size_t i = 0; i < 3; ++i) {
    append(*parts[i], known.user, relevant[i], next, negatives.counts[i], Dice(random_key(o.seed, orders[i]), lane));
    next += negatives.counts[i];
  }
}

/// Counts the users and items that have relevant rows in test but none in train.
void count_new(Fold& fold, int64_t all_items) {
  const auto known = [](const Part& part, auto&& each) {
    for (size_t l = 0, r = 0; l < part.sizes.size(); ++l) {
      for (const size_t end = r + static_cast<size_t>(part.sizes[l]); r < end; ++r) {
        if (part.relevance[r] > 0) each(part.users[l], part.items[r]);
      }
    }
  };
  std::unordered_set<int64_t> users, new_users;
  std::vector<bool> items(static_cast<size_t>(all_items) + 1), new_items(items.size());
  known(fold.train, [&](int64_t user, int64_t item) {
    users.insert(user);
    items[static_cast<size_t>(item)] = true;
  });
  known(fold.test, [&](int64_t user, int64_t item) {
    if (!users.contains(user)) new_users.insert(user);
    if (!items[static_cast<size_t>(item)]) new_items[static_cast<size_t>(item)] = true;
  });
  fold.new_users = static_cast<int64_t>(new_users.size());
  fold.new_items = std::count(new_items.begin(), new_items.end(), true);
}

}  // namespace

Fold make_fold(const Positives& positives, const FoldOptions& options) {
  check_options(options);
  Fold fold;
  Division division;
  if (options.by != SplitBy::user) division = divide(positives, options);
  fold.whole_users = division.whole_users;
  const Making making{positives, options, std::move(division.part_of), std::move(division.pools)};
  reserve(fold, making);
  for (size_t u = 0; u < positives.users.size(); ++u) {
    cpu::check_interrupt();
    const int64_t first = positives.offsets[u];
    const std::vector<int64_t> own(positives.items.begin() + first, positives.items.begin() + positives.offsets[u + 1]);
    add_user(fold, making,
             {positives.users[u], own, static_cast<size_t>(first),
              positives.no_negatives.empty() ? own : positives.no_negatives[u]});
  }
  count_new(fold, positives.all_items);
  return fold;
}

std::vector<int8_t> parts_of(const Positives& positives, const FoldOptions& options) {
  check_options(options);
  if (options.by != SplitBy::user) return divide(positives, options).part_of;
  std::vector<int8_t> out(positives.items.size());
  for (size_t u = 0; u < positives.users.size(); ++u) {
    const int64_t first = positives.offsets[u];
    const auto places =
        dealt_places(options, positives.users[u], static_cast<size_t>(positives.offsets[u + 1] - first));
    for (size_t part = 0; part < places.size(); ++part) {
      for (const size_t i : places[part]) out[static_cast<size_t>(first) + i] = static_cast<int8_t>(part);
    }
  }
  return out;
}

}  // namespace mr
