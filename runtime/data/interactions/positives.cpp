// Collects the relevant items of each user.
#include <algorithm>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>

#include "kernels/core/threads.h"
#include "runtime/data/interactions/split.h"

namespace mr {
namespace {

// random numbers of a user have a key with 40 bits for the user's number
constexpr int64_t most_users = (int64_t{1} << 40) - 1;

/// Sorts the ratings of a user by item; `own` holds their row numbers. Throws if an item occurs twice.
template <class Row>
void sort_items(int64_t user, std::span<const int64_t> item, std::span<Row> own) {
  std::sort(own.begin(), own.end(), [&](Row a, Row b) { return item[a] < item[b]; });
  for (size_t i = 1; i < own.size(); ++i) {
    if (item[own[i]] == item[own[i - 1]]) {
      throw std::invalid_argument("user " + std::to_string(user) + " has item " + std::to_string(item[own[i]]) +
                                  " more than once, expected each pair once");
    }
  }
}

void check_sizes(size_t users, size_t items, size_t ratings, int64_t all_users) {
  if (users != items || users != ratings) {
    throw std::invalid_argument(std::to_string(users) + " users, " + std::to_string(items) + " items and " +
                                std::to_string(ratings) + " ratings, expected one of each per row");
  }
  if (all_users < 0 || all_users > most_users) {
    throw std::invalid_argument(std::to_string(all_users) + " users, expected 0 to " + std::to_string(most_users));
  }
}

/// Returns the row numbers of all ratings, sorted by user. starts[u] gets the position in the result where user u (from
/// 0) begins. Throws if a user or item number is out of range.
template <class Row>
std::vector<Row> by_user(const RatingRows& ratings, int64_t all_items, std::vector<size_t>& starts) {
  const auto& [user, item, value, time, file] = ratings;
  const auto all_users = static_cast<int64_t>(starts.size()) - 1;
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
  std::vector<Row> rows(user.size());
  std::vector<size_t> next = starts;
  for (size_t i = 0; i < user.size(); ++i) rows[next[user[i] - 1]++] = static_cast<Row>(i);
  return rows;
}

/// Appends x[row] to `into` for each row number in `of`. Does nothing if x, an optional column of the ratings, is
/// empty.
template <class T, class Row>
void gather(std::span<const T> x, std::span<const Row> of, std::vector<T>& into) {
  if (x.empty()) return;
  for (const Row row : of) into.push_back(x[row]);
}

template <class Row>
class Collecting {
 public:
  Collecting(const RatingRows& ratings, int64_t all_users, int64_t all_items, double threshold, int64_t least,
             bool graded)
      : ratings_(ratings),
        threshold_(graded ? -std::numeric_limits<double>::infinity() : threshold),
        least_(std::max<int64_t>(least, 1)),
        graded_(graded),
        starts_(static_cast<size_t>(all_users) + 1),
        rows_(by_user<Row>(ratings, all_items, starts_)) {
    out_.all_items = all_items;
  }

  Positives positives() {
    reserve();
    out_.offsets.push_back(0);
    for (size_t u = 0; u + 1 < starts_.size(); ++u) {
      cpu::check_interrupt();
      std::span<Row> own = rows_of(u);
      sort_items(static_cast<int64_t>(u) + 1, ratings_.item, own);
      own = own.first(static_cast<size_t>(
          std::remove_if(own.begin(), own.end(), [&](Row row) { return !is_kept(row); }) - own.begin()));
      if (static_cast<int64_t>(own.size()) >= least_) add(static_cast<int64_t>(u) + 1, own);
    }
    return std::move(out_);
  }

 private:
  bool is_kept(Row row) const { return ratings_.value[row] >= threshold_; }
  std::span<Row> rows_of(size_t u) { return {rows_.data() + starts_[u], starts_[u + 1] - starts_[u]}; }

  /// Reserves exactly the memory that the result needs. Vectors that grow step by step would need up to three times as
  /// much.
  void reserve() {
    size_t users = 0, count = 0;
    for (size_t u = 0; u + 1 < starts_.size(); ++u) {
      if ((u & 0xFFF) == 0) cpu::check_interrupt();
      const std::span<const Row> own = rows_of(u);
      const auto kept = std::count_if(own.begin(), own.end(), [&](Row row) { return is_kept(row); });
      if (kept < least_) continue;
      ++users;
      count += static_cast<size_t>(kept);
    }
    out_.users.reserve(users);
    out_.offsets.reserve(users + 1);
    out_.items.reserve(count);
    out_.rows = RowNumbers(ratings_.user.size(), count);
    if (graded_) out_.grades.reserve(count);
    if (!ratings_.time.empty()) out_.times.reserve(count);
    if (!ratings_.file.empty()) out_.files.reserve(count);
  }

  void add(int64_t user, std::span<const Row> own) {
    out_.users.push_back(user);
    for (const Row row : own) {
      out_.items.push_back(ratings_.item[row]);
      out_.rows.push_back(row);
    }
    if (graded_) gather(ratings_.value, own, out_.grades);
    gather(ratings_.time, own, out_.times);
    gather(ratings_.file, own, out_.files);
    out_.offsets.push_back(static_cast<int64_t>(out_.items.size()));
  }

  const RatingRows ratings_;
  double threshold_;
  int64_t least_;
  bool graded_;
  std::vector<size_t> starts_;
  std::vector<Row> rows_;
  Positives out_;
};

}  // namespace

Positives positives_of(const RatingRows& ratings, int64_t all_users, int64_t all_items, double threshold,
                       int64_t min_relevant, bool graded) {
  check_sizes(ratings.user.size(), ratings.item.size(), ratings.value.size(), all_users);
  const auto collected = [&]<class Row>(Row) {
    return Collecting<Row>(ratings, all_users, all_items, threshold, min_relevant, graded).positives();
  };
  return ratings.user.size() <= std::numeric_limits<uint32_t>::max() ? collected(uint32_t{}) : collected(size_t{});
}

}  // namespace mr
