// Folds of ratings for experiments: users' items divided into train, validation and test, with negatives drawn once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mr {

/// The relevant items of the selected users, ascending per user. Users and items count from 1.
struct Positives {
  std::vector<int64_t> users, offsets, items;
  int64_t all_items = 0;
  /// One entry per item, or empty: grades (empty: all 1), times, rows of the table, and parts of the file (from 0).
  std::vector<float> grades;
  std::vector<int64_t> times, rows, files;
  /// For each user, ascending, the items that are never drawn as negatives. Empty: the relevant items.
  std::vector<std::vector<int64_t>> no_negatives;
};

/// Optional details of ratings: `time` and `file` have one entry per row, or none. `graded`: every
/// rating is kept, with its grade.
struct RatingDetails {
  std::vector<int64_t> time, file;
  bool graded = false;
};

/// Collects ratings of at least `threshold`, from users with at least `min_relevant` of them.
Positives positives_of(const std::vector<int64_t>& user, const std::vector<int64_t>& item,
                       const std::vector<float>& value, int64_t all_users, int64_t all_items, double threshold,
                       int64_t min_relevant, const RatingDetails& details = {});

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

/// The part of each item of each user: 0 train, 1 validation, 2 test.
std::vector<int8_t> parts_of(const Positives& positives, const FoldOptions& options);

/// The part of each rating: 0 train, 1 validation, 2 test. Ratings that are not positives get the part that time,
/// files, cold users or cold items determine. If parts are drawn at random, they are in train.
std::vector<int8_t> parts_of_ratings(const Positives& positives, const FoldOptions& options,
                                     const std::vector<int64_t>& user, const std::vector<int64_t>& item,
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
