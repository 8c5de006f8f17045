// Folds of ratings for experiments: users' items divided into train, validation and test, with negatives drawn once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mr {

/// Row numbers of a table, from 0. Each takes 4 bytes if the table has at most 2^32 rows, else 8.
class RowNumbers {
 public:
  RowNumbers() = default;
  RowNumbers(size_t rows_of_table, size_t count) : is_short_(rows_of_table <= size_t{1} << 32) {
    is_short_ ? short_.reserve(count) : long_.reserve(count);
  }
  void push_back(size_t row) {
    if (is_short_)
      short_.push_back(static_cast<uint32_t>(row));
    else
      long_.push_back(static_cast<int64_t>(row));
  }
  int64_t operator[](size_t i) const { return is_short_ ? static_cast<int64_t>(short_[i]) : long_[i]; }
  size_t size() const { return is_short_ ? short_.size() : long_.size(); }

 private:
  bool is_short_ = true;
  std::vector<uint32_t> short_;
  std::vector<int64_t> long_;
};

/// The relevant items of the selected users, ascending per user. Users and items count from 1.
struct Positives {
  std::vector<int64_t> users, offsets, items;
  int64_t all_items = 0;
  RowNumbers rows;  // one for each item, or empty
  /// Each has one entry per item, or is empty: grades (empty: all 1), times, and numbers of the ratings' files (from
  /// 0).
  std::vector<float> grades;
  std::vector<int64_t> times, files;
  /// For each user, ascending, the items that are never drawn as negatives. Empty: the relevant items.
  std::vector<std::vector<int64_t>> no_negatives;
};

/// Optional details of ratings: `time` and `file` have one entry per row, or none.
struct RatingDetails {
  std::span<const int64_t> time, file;
};

/// The columns of a table of ratings; `time` and `file` may be empty.
struct RatingRows {
  std::span<const int64_t> user, item;
  std::span<const float> value;
  std::span<const int64_t> time = {}, file = {};
};

/// Collects ratings of at least `threshold`, from users with at least `min_relevant` of them. `graded`: keeps every
/// rating, with its grade. Needs 4 bytes for each rating (8 from 2^32 ratings on) besides the result.
Positives positives_of(const RatingRows& ratings, int64_t all_users, int64_t all_items, double threshold,
                       int64_t min_relevant, bool graded);

/// How interactions are divided (runtime/data/interactions/protocols.h).
enum class SplitBy : int8_t { user, time, user_time, last, one, share, cold_user, cold_item, given };

struct FoldOptions {
  int64_t folds = 5, fold = 1;  // number of folds; number of the fold to make (or of the repetition), from 1
  int64_t nsr = 1;              // negatives per relevant item, 0 to 4095
  double valid = 0.1;           // share of each user's training items that becomes the validation part
  uint64_t seed = 1;
  SplitBy by = SplitBy::user;
  // splits `last`, `one`: number of test items (and of validation items) per user; `user_time`: least number of test
  // items
  int64_t n = 1;
  double test = 0.2;  // splits `time`, `user_time`, `share`: share of the items that becomes the test part
  std::optional<int64_t> at = std::nullopt;  // split `time`: interactions from this time on are the test part
};

/// Returns the part of each item of each user: 0 train, 1 validation, 2 test.
std::vector<int8_t> parts_of(const Positives& positives, const FoldOptions& options);

/// Returns the part of each rating: 0 train, 1 validation, 2 test. Ratings that are not positives get the part that
/// time, files, cold users or cold items determine. If parts are drawn at random, such ratings are in train.
std::vector<int8_t> parts_of_ratings(const Positives& positives, const FoldOptions& options,
                                     std::span<const int64_t> user, std::span<const int64_t> item,
                                     const RatingDetails& details);

/// One list per user: its relevant items and its negatives, shuffled.
struct Part {
  std::vector<int64_t> users, sizes, items;
  std::vector<float> relevance;
};

struct Fold {
  Part train, valid, test;
  // number of users with too few unseen items for all negatives; their three parts share the unseen items
  int64_t short_users = 0;
  // splits `last`, `user_time`, `one`: number of users with too few items; all their items are in train
  int64_t whole_users = 0;
  // number of users, and of items, that have relevant rows in test but none in train
  int64_t new_users = 0, new_items = 0;
};

/// Makes a fold. By user: each user's relevant items are shuffled and assigned to the folds in rotation; of the items
/// that are not in test, round(valid x n) (at least 1 of 2 or more, if valid > 0) are validation. Each part gets nsr
/// distinct negatives per relevant item, never a relevant item of the user. The same seed gives the same folds for any
/// nsr, and the same negatives for the same (seed, nsr, fold). Cold items are negatives of their own part only.
Fold make_fold(const Positives& positives, const FoldOptions& options);

}  // namespace mr
