// Folds of ratings for experiments: each fold divides the users' items into train, validation and test, with negatives
// that are drawn once.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace mr {

/// Stores row numbers of a table, counted from 0. Each takes 4 bytes if the table has at most 2^32 rows, else 8.
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

/// The relevant items of those users who have enough of them. Each user's items are ascending. Users and items count
/// from 1.
struct Positives {
  std::vector<int64_t> users, offsets, items;
  int64_t all_items = 0;
  RowNumbers rows;  // for each entry of `items`, the row of its rating in the table; may be empty
  /// Details of the interactions, with one entry for each entry of `items`: grades (if empty, all are 1), timestamps,
  /// and numbers of the files from which ratings were read (from 0). Each may be empty.
  std::vector<float> grades;
  std::vector<int64_t> times, files;
  /// For each user, the items that are never drawn as negatives, ascending. If empty, these are the user's relevant
  /// items.
  std::vector<std::vector<int64_t>> no_negatives;
};

/// Optional columns of a table of ratings: timestamps, and numbers of files. Each has one entry per rating or is empty.
struct RatingDetails {
  std::span<const int64_t> time, file;
};

/// The columns of a table of ratings, one entry per rating. `time` and `file` may be empty.
struct RatingRows {
  std::span<const int64_t> user, item;
  std::span<const float> value;
  std::span<const int64_t> time = {}, file = {};
};

/// Collects the relevant interactions: ratings of at least `threshold`, from users who have at least `min_relevant` of
/// them. If `graded` is true, the threshold is ignored: every rating counts and is kept, with its grade. Besides the
/// result, this needs 4 bytes of memory for each rating (8 from 2^32 ratings on).
Positives positives_of(const RatingRows& ratings, int64_t all_users, int64_t all_items, double threshold,
                       int64_t min_relevant, bool graded);

/// How interactions are divided into train, validation and test. runtime/data/interactions/protocols.h describes the
/// methods.
enum class SplitBy : int8_t { user, time, user_time, last, one, share, cold_user, cold_item, given };

struct FoldOptions {
  // `folds` is the number of folds. `fold`, from 1, is the fold to make, or the repetition if test items are drawn at
  // random.
  int64_t folds = 5, fold = 1;
  int64_t nsr = 1;     // number of negatives per relevant item, from 0 to 4095
  double valid = 0.1;  // share of the items outside the test part that becomes the validation part
  uint64_t seed = 1;
  SplitBy by = SplitBy::user;
  // For the splits `last` and `one`: number of test items per user, and as many for validation if `valid` is above 0.
  // For the split `user_time`: least number of test items per user.
  int64_t n = 1;
  // for the splits `time`, `user_time` and `share`: share of the interactions that becomes the test part
  double test = 0.2;
  std::optional<int64_t> at = std::nullopt;  // for the split `time`: interactions from this time on are test
};

/// Returns for each relevant interaction its part: 0 train, 1 validation, 2 test.
std::vector<int8_t> parts_of(const Positives& positives, const FoldOptions& options);

/// Returns for each rating its part: 0 train, 1 validation, 2 test. Ratings that are not among the positives (relevant
/// interactions) get the part that their time, file, user or item belongs to. If the split is random, they are in
/// train.
std::vector<int8_t> parts_of_ratings(const Positives& positives, const FoldOptions& options,
                                     std::span<const int64_t> user, std::span<const int64_t> item,
                                     const RatingDetails& details);

/// The lists of a train, validation or test part: one list per user, with the user's relevant items and negatives,
/// shuffled.
struct Part {
  std::vector<int64_t> users, sizes, items;
  std::vector<float> relevance;
};

struct Fold {
  Part train, valid, test;
  // number of users who have too few unseen items for all negatives; these items are divided among their lists
  int64_t short_users = 0;
  // for the splits `last`, `user_time` and `one`: number of users with too few items for a test part; all are in train
  int64_t whole_users = 0;
  // number of users, and number of items, with relevant rows in test but none in train
  int64_t new_users = 0, new_items = 0;
};

/// Makes a fold: train, validation and test lists of the users. With the split `user`, each user's relevant items are
/// shuffled and assigned to the folds in rotation. Of the n items that are not in test, round(valid * n) are
/// validation, but at least 1 and at most n - 1 if valid > 0 and n >= 2. Each part gets nsr distinct negatives per
/// relevant item, which are never relevant items of the user. The same seed gives the same folds for any nsr, and the
/// same negatives for the same (seed, nsr, fold). With the split `cold_item`, negatives are drawn from the items of
/// their own part only.
Fold make_fold(const Positives& positives, const FoldOptions& options);

}  // namespace mr
