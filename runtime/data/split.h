// The protocol of the experiments on ratings: folds by user, a validation part, and negatives drawn once.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace mr {

/// The relevant items of the users that are kept, ascending per user; users and items count from 1.
struct Positives {
  std::vector<int64_t> users, offsets, items;
  int64_t all_items = 0;
  /// One per item, or none: grades (else all are 1), times, rows of the table, and parts of the file (from 0).
  std::vector<float> grades;
  std::vector<int64_t> times, rows, files;
  /// For each user, ascending, the items that are drawn as negatives of no part; empty: the relevant ones.
  std::vector<std::vector<int64_t>> no_negatives;
};

/// Optional details of ratings: `time` and `file` have one entry per row, or none. `graded`: every
/// rating is kept, with its grade.
struct RatingDetails {
  std::vector<int64_t> time, file;
  bool graded = false;
};

/// Ratings of at least `threshold`, of users with at least `min_relevant` of them.
Positives positives_of(const std::vector<int64_t>& user, const std::vector<int64_t>& item,
                       const std::vector<float>& value, int64_t all_users, int64_t all_items, double threshold,
                       int64_t min_relevant, const RatingDetails& details = {});

/// By what interactions are divided (runtime/data/protocols.h).
enum class SplitBy : int8_t { user, time, user_time, last, one, share, cold_user, cold_item, given };

struct FoldOptions {
  int64_t folds = 5, fold = 1;  // which of how many is test, or which repetition, from 1
  int64_t nsr = 1;              // negatives per relevant item, 0 to 4095
  double valid = 0.1;           // share of each user's training items that becomes the validation part
  uint64_t seed = 1;
  SplitBy by = SplitBy::user;
  int64_t n = 1;  // of `last` and `one`: items of each user for test, and as many for validation; of `user_time`: least
  double test = 0.2;                         // of `time`, `user_time` and `share`: share that is test
  std::optional<int64_t> at = std::nullopt;  // of `time`: test is what is not before this time
};

/// For each item of each user its part: 0 train, 1 validation, 2 test.
std::vector<int8_t> parts_of(const Positives& positives, const FoldOptions& options);

/// For each rating, which may be in no list, its part: 0 train, 1 validation, 2 test. Ratings that are not among the
/// positives are in the part that time, files, cold users or cold items say; where parts are drawn at random, in train.
std::vector<int8_t> parts_of_ratings(const Positives& positives, const FoldOptions& options,
                                     const std::vector<int64_t>& user, const std::vector<int64_t>& item,
                                     const RatingDetails& details);

/// One list per user: its relevant items and its negatives, in random order.
struct Part {
  std::vector<int64_t> users, sizes, items;
  std::vector<float> relevance;
};

struct Fold {
  Part train, valid, test;
  int64_t short_users = 0;  // users with fewer unseen items than negatives wanted; their parts share all unseen items
  int64_t whole_users = 0;  // of `last`, `user_time` and `one`: users with too few items, all of which are for training
  int64_t new_users = 0, new_items = 0;  // that test has relevant rows of and train has none
};

/// By user, each user's relevant items are shuffled and assigned to the folds in rotation; of those that are not test,
/// round(valid x n) (at least 1 of 2 or more, where valid > 0) become validation. Negatives are nsr per relevant item
/// of each part, all different, never a relevant item of the user. The same seed gives the same folds whatever the nsr,
/// and the same negatives for the same (seed, nsr, fold). Cold items are no negatives of other parts than theirs.
Fold make_fold(const Positives& positives, const FoldOptions& options);

}  // namespace mr
