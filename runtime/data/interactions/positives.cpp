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

constexpr int64_t most_users = (int64_t{1} << 40) - 1;  // keys of random numbers have 40 bits for the user

struct Rated {
  int64_t item;
  size_t row;
};

/// Sorts a user's ratings by item. Throws if an item occurs twice.
void sort_items(int64_t user, std::span<Rated> rated) {
  std::sort(rated.begin(), rated.end(), [](const Rated& a, const Rated& b) { return a.item < b.item; });
  for (size_t i = 1; i < rated.size(); ++i) {
    if (rated[i].item == rated[i - 1].item) {
      throw std::invalid_argument("user " + std::to_string(user) + " has item " + std::to_string(rated[i].item) +
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

/// All ratings sorted by user, with the position where each user begins. Throws for users and items out of range.
std::vector<Rated> by_user(const std::vector<int64_t>& user, const std::vector<int64_t>& item, int64_t all_items,
                           std::vector<size_t>& starts) {
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
  std::vector<Rated> rated(user.size());
  std::vector<size_t> next = starts;
  for (size_t i = 0; i < user.size(); ++i) rated[next[user[i] - 1]++] = {item[i], i};
  return rated;
}

/// Selects the entries of x (one per row of the table) that belong to these ratings. Empty if x is empty.
template <class T>
void gather(const std::vector<T>& x, std::span<const Rated> of, std::vector<T>& into) {
  if (x.empty()) return;
  for (const Rated& each : of) into.push_back(x[each.row]);
}

}  // namespace

Positives positives_of(const std::vector<int64_t>& user, const std::vector<int64_t>& item,
                       const std::vector<float>& value, int64_t all_users, int64_t all_items, double threshold,
                       int64_t min_relevant, const RatingDetails& details) {
  check_sizes(user.size(), item.size(), value.size(), all_users);
  if (details.graded) threshold = -std::numeric_limits<double>::infinity();
  std::vector<size_t> starts(static_cast<size_t>(all_users) + 1);
  std::vector<Rated> rated = by_user(user, item, all_items, starts);
  Positives out;
  out.all_items = all_items;
  out.offsets.push_back(0);
  for (int64_t u = 0; u < all_users; ++u) {
    cpu::check_interrupt();
    std::span<Rated> own(rated.data() + starts[u], starts[u + 1] - starts[u]);
    sort_items(u + 1, own);
    const auto dropped = [&](const Rated& each) { return !(value[each.row] >= threshold); };
    own = own.first(static_cast<size_t>(std::remove_if(own.begin(), own.end(), dropped) - own.begin()));
    if (static_cast<int64_t>(own.size()) < std::max<int64_t>(min_relevant, 1)) continue;
    out.users.push_back(u + 1);
    for (const Rated& each : own) {
      out.items.push_back(each.item);
      out.rows.push_back(static_cast<int64_t>(each.row));
    }
    if (details.graded) gather(value, own, out.grades);
    gather(details.time, own, out.times);
    gather(details.file, own, out.files);
    out.offsets.push_back(static_cast<int64_t>(out.items.size()));
  }
  return out;
}

}  // namespace mr
