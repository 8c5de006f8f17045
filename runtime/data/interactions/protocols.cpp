#include "runtime/data/interactions/protocols.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>

#include "kernels/core/patient.h"
#include "runtime/data/interactions/dice.h"

namespace mr {
namespace {

using Parts = std::vector<int8_t>;

void need_times(const Positives& p) {
  if (p.times.size() != p.items.size())
    throw std::invalid_argument("the ratings have no timestamps, expected a column 'timestamp' (or columns.timestamp)");
}

void by_time(const Positives& p, const FoldOptions& o, Parts& part_of) {
  need_times(p);
  std::vector<int64_t> sorted = p.times;
  std::sort(sorted.begin(), sorted.end(), cpu::patient(std::less<>()));
  const auto before = [&](int64_t time) {
    return std::lower_bound(sorted.begin(), sorted.end(), time) - sorted.begin();
  };
  const size_t n = sorted.size();
  const int64_t cut = o.at ? *o.at : sorted[n - std::max<size_t>(1, rounded_share(o.test, n))];
  const auto earlier = static_cast<size_t>(before(cut));
  const int64_t valid = rounded_share(o.valid, earlier);
  const int64_t valid_cut = valid > 0 ? sorted[earlier - static_cast<size_t>(valid)] : cut;
  if (earlier == n)
    throw std::invalid_argument("no interaction is at time " + std::to_string(cut) +
                                " or later, so the test part is empty; the last one is at " +
                                std::to_string(sorted.back()));
  if (before(valid_cut) == 0)
    throw std::invalid_argument("no interaction is before time " + std::to_string(valid_cut) +
                                ", so the train part is empty");
  for (size_t i = 0; i < n; ++i)
    part_of[i] = p.times[i] >= cut ? test_part : p.times[i] >= valid_cut ? valid_part : train_part;
}

/// Calls f(user, indices of the user's interactions in `p`) for every user.
template <class F>
void each_user(const Positives& p, const F& f) {
  for (size_t u = 0; u < p.users.size(); ++u) {
    cpu::check_interrupt();
    std::vector<int64_t> own(static_cast<size_t>(p.offsets[u + 1] - p.offsets[u]));
    std::iota(own.begin(), own.end(), p.offsets[u]);
    f(p.users[u], own);
  }
}

/// Returns the number that makes the random numbers of this user in this fold differ from those of other users and
/// folds.
uint64_t lane_of(int64_t user, const FoldOptions& o) {
  return static_cast<uint64_t>(user) | static_cast<uint64_t>(o.fold) << 40;
}

/// Marks the first `test` interactions of `order` as test and the next `valid` interactions as validation.
void mark(Parts& part_of, const std::vector<int64_t>& order, int64_t test, int64_t valid) {
  for (int64_t i = 0; i < test + valid; ++i) part_of[order[i]] = i < test ? test_part : valid_part;
}

/// Divides each user's interactions after `sort` has ordered them. The first n are test; the next n are validation if a
/// validation part is wanted.
template <class Sort>
void by_count(const Positives& p, const FoldOptions& o, Division& out, const Sort& sort) {
  const int64_t valid = o.valid > 0 ? o.n : 0;
  int64_t most = 0;
  each_user(p, [&](int64_t user, std::vector<int64_t>& own) {
    const auto count = static_cast<int64_t>(own.size());
    most = std::max(most, count);
    if (o.n >= count - valid) {  // compares by subtraction, because the sum o.n + valid could overflow
      ++out.whole_users;
      return;
    }
    sort(user, own);
    mark(out.part_of, own, o.n, valid);
  });
  if (out.whole_users < static_cast<int64_t>(p.users.size())) return;
  throw std::invalid_argument("n is " + std::to_string(o.n) + " test items per user" +
                              (valid > 0 ? " and as many for validation" : "") +
                              ", but no user has more items: the largest number is " + std::to_string(most));
}

/// Sorts a user's interactions by time, latest first. If times are equal, the later row is first.
void latest_first(const Positives& p, std::vector<int64_t>& own) {
  std::sort(own.begin(), own.end(), [&](int64_t a, int64_t b) {
    return p.times[a] != p.times[b] ? p.times[a] > p.times[b] : p.rows[a] > p.rows[b];
  });
}

void by_last(const Positives& p, const FoldOptions& o, Division& out) {
  need_times(p);
  by_count(p, o, out, [&](int64_t, std::vector<int64_t>& own) { latest_first(p, own); });
}

/// Divides each user's interactions by time. The latest share, at least n of them, is test; of the rest, the latest
/// share is validation.
void by_user_time(const Positives& p, const FoldOptions& o, Division& out) {
  need_times(p);
  each_user(p, [&](int64_t, std::vector<int64_t>& own) {
    const size_t count = own.size();
    const int64_t test = std::max(o.n, rounded_share(o.test, count));
    if (test >= static_cast<int64_t>(count)) {
      ++out.whole_users;
      return;
    }
    latest_first(p, own);
    mark(out.part_of, own, test, rounded_share(o.valid, count - static_cast<size_t>(test)));
  });
  if (out.whole_users == static_cast<int64_t>(p.users.size()))
    throw std::invalid_argument("n is " + std::to_string(o.n) +
                                " test items per user, but no user has more items. Pass a smaller n");
}

void by_share(const Positives& p, const FoldOptions& o, Parts& part_of) {
  const RandomKey key = random_key(o.seed, "shares");
  each_user(p, [&](int64_t user, std::vector<int64_t>& own) {
    shuffle(own, Dice(key, lane_of(user, o)));
    const int64_t test = rounded_share(o.test, own.size());
    mark(part_of, own, test, rounded_share(o.valid, own.size() - static_cast<size_t>(test)));
  });
}

/// Shuffles n users or items and assigns them to the folds in rotation. Those of this fold are test, a share of the
/// others is validation, and the rest is train. Returns the part of each one.
Parts dealt_parts(int64_t n, const FoldOptions& o, const char* stream) {
  std::vector<int64_t> order(static_cast<size_t>(n)), others;
  std::iota(order.begin(), order.end(), int64_t{0});
  shuffle(order, Dice(random_key(o.seed, stream), 0));
  Parts parts(order.size(), train_part);
  for (size_t i = 0; i < order.size(); ++i) {
    if (static_cast<int64_t>(i) % o.folds == o.fold - 1) {
      parts[order[i]] = test_part;
    } else {
      others.push_back(order[i]);
    }
  }
  for (int64_t i = 0; i < rounded_share(o.valid, others.size()); ++i) parts[others[i]] = valid_part;
  return parts;
}

void by_cold_user(const Positives& p, const FoldOptions& o, Parts& part_of) {
  const Parts parts = dealt_parts(static_cast<int64_t>(p.users.size()), o, "cold users");
  for (size_t u = 0; u < p.users.size(); ++u)
    std::fill(part_of.begin() + p.offsets[u], part_of.begin() + p.offsets[u + 1], parts[u]);
}

void by_cold_item(const Positives& p, const FoldOptions& o, Division& out) {
  const Parts parts = dealt_parts(p.all_items, o, "cold items");
  for (size_t i = 0; i < p.items.size(); ++i) out.part_of[i] = parts[p.items[i] - 1];
  for (size_t i = 0; i < parts.size(); ++i)
    out.pools[static_cast<size_t>(parts[i])].push_back(static_cast<int64_t>(i) + 1);
}

void by_file(const Positives& p, const FoldOptions& o, Parts& part_of) {
  if (p.files.size() != p.items.size())
    throw std::invalid_argument("the ratings come from one file, expected separate files for train and test");
  std::transform(p.files.begin(), p.files.end(), part_of.begin(),
                 [](int64_t file) { return static_cast<int8_t>(file); });
  if (std::find(part_of.begin(), part_of.end(), valid_part) != part_of.end()) return;
  const RandomKey key = random_key(o.seed, "validation of given files");
  each_user(p, [&](int64_t user, std::vector<int64_t>& own) {
    std::erase_if(own, [&](int64_t i) { return part_of[i] != train_part; });
    shuffle(own, Dice(key, lane_of(user, o)));
    mark(part_of, own, 0, rounded_share(o.valid, own.size()));
  });
}

}  // namespace

int64_t rounded_share(double share, size_t n) {
  if (!(share > 0) || n < 2) return 0;
  const auto rounded = std::llround(share * static_cast<double>(n));
  return std::clamp<int64_t>(rounded, 1, static_cast<int64_t>(n) - 1);
}

Division divide(const Positives& p, const FoldOptions& o) {
  if (p.items.empty()) throw std::invalid_argument("there are no interactions to divide");
  Division out;
  out.part_of.assign(p.items.size(), train_part);
  switch (o.by) {
    case SplitBy::user:
      throw std::logic_error("a division by user is made from each user's items, not here");
    case SplitBy::time:
      by_time(p, o, out.part_of);
      break;
    case SplitBy::user_time:
      by_user_time(p, o, out);
      break;
    case SplitBy::last:
      by_last(p, o, out);
      break;
    case SplitBy::one:
      by_count(p, o, out, [key = random_key(o.seed, "leave one out"), &o](int64_t user, std::vector<int64_t>& own) {
        shuffle(own, Dice(key, lane_of(user, o)));
      });
      break;
    case SplitBy::share:
      by_share(p, o, out.part_of);
      break;
    case SplitBy::cold_user:
      by_cold_user(p, o, out.part_of);
      break;
    case SplitBy::cold_item:
      by_cold_item(p, o, out);
      break;
    case SplitBy::given:
      by_file(p, o, out.part_of);
      break;
  }
  for (const int8_t part : {train_part, test_part}) {
    if (std::find(out.part_of.begin(), out.part_of.end(), part) == out.part_of.end())
      throw std::invalid_argument(part == test_part ? "the test part has no interactions"
                                                    : "the train part has no interactions");
  }
  return out;
}

}  // namespace mr
