// Finds the part (train, validation, test) of every rating. This includes ratings below the threshold of relevance,
// which are in no list.
#include <algorithm>
#include <limits>
#include <unordered_map>
#include <utility>

#include "kernels/core/threads.h"
#include "runtime/data/interactions/protocols.h"
#include "runtime/data/interactions/split.h"

namespace mr {
namespace {

/// When a rating was given: its timestamp, and its row in the table, which orders ratings with equal timestamps.
using Moment = std::pair<int64_t, int64_t>;
constexpr Moment never{std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::max()};

/// The earliest moments (timestamp and row) of the relevant interactions in validation and in test. They tell to which
/// part another rating of that time belongs.
struct Cuts {
  Moment valid = never, test = never;

  void see(int8_t part, Moment at) {
    if (part == valid_part) valid = std::min(valid, at);
    if (part == test_part) test = std::min(test, at);
  }
  int8_t part(Moment at) const { return at >= test ? test_part : at >= valid ? valid_part : train_part; }
};

/// Finds the part (train, validation, test) of ratings that are not positives, that is, are not relevant or belong to
/// users who were left out.
class Others {
 public:
  Others(const Positives& p, const FoldOptions& o, const std::vector<int8_t>& part_of) : by_(o.by) {
    for (size_t u = 0; u < p.users.size(); ++u) {
      for (int64_t i = p.offsets[u]; i < p.offsets[u + 1]; ++i) {
        if (by_ == SplitBy::time) all_.see(part_of[i], {p.times[i], 0});
        if (by_ == SplitBy::last || by_ == SplitBy::user_time)
          users_[p.users[u]].see(part_of[i], {p.times[i], p.rows[i]});
        if (by_ == SplitBy::cold_user) cold_[p.users[u]] = part_of[i];
      }
    }
    if (by_ == SplitBy::time && o.at) all_.test = {*o.at, 0};
    if (by_ != SplitBy::cold_item) return;
    const Division division = divide(p, o);
    for (const int8_t part : {valid_part, test_part}) {
      for (const int64_t item : division.pools[static_cast<size_t>(part)]) cold_[item] = part;
    }
  }

  int8_t part(size_t row, int64_t user, int64_t item, const RatingDetails& details) const {
    switch (by_) {
      case SplitBy::time:
        return all_.part({details.time[row], 0});
      case SplitBy::last:
      case SplitBy::user_time: {
        const auto at = users_.find(user);
        return at == users_.end() ? train_part : at->second.part({details.time[row], static_cast<int64_t>(row)});
      }
      case SplitBy::given:
        return static_cast<int8_t>(details.file[row]);
      case SplitBy::cold_user:
      case SplitBy::cold_item: {
        const auto at = cold_.find(by_ == SplitBy::cold_user ? user : item);
        return at == cold_.end() ? train_part : at->second;
      }
      default:
        return train_part;
    }
  }

 private:
  SplitBy by_;
  Cuts all_;
  std::unordered_map<int64_t, Cuts> users_;
  std::unordered_map<int64_t, int8_t> cold_;
};

}  // namespace

std::vector<int8_t> parts_of_ratings(const Positives& positives, const FoldOptions& options,
                                     std::span<const int64_t> user, std::span<const int64_t> item,
                                     const RatingDetails& details) {
  const std::vector<int8_t> own = parts_of(positives, options);
  const Others others(positives, options, own);
  constexpr int8_t unknown = -1;
  std::vector<int8_t> parts(user.size(), unknown);
  for (size_t i = 0; i < own.size(); ++i) parts[static_cast<size_t>(positives.rows[i])] = own[i];
  for (size_t row = 0; row < parts.size(); ++row) {
    if ((row & 0xFFFFF) == 0) cpu::check_interrupt();
    if (parts[row] == unknown) parts[row] = others.part(row, user[row], item[row], details);
  }
  return parts;
}

}  // namespace mr
