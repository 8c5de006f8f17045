// The protocol of the experiments on ratings: folds by user, a validation part, and negatives drawn once.
#pragma once

#include <cstdint>
#include <vector>

namespace mr {

/// The relevant items of the users that are kept, ascending per user; users and items count from 1.
struct Positives {
  std::vector<int64_t> users, offsets, items;
  int64_t all_items = 0;
};

/// Ratings of at least `threshold`, of users with at least `min_relevant` of them.
Positives positives_of(const std::vector<int64_t>& user, const std::vector<int64_t>& item,
                       const std::vector<float>& value, int64_t all_users, int64_t all_items, double threshold,
                       int64_t min_relevant);

struct FoldOptions {
  int64_t folds = 5, fold = 1;  // which of how many is test, from 1
  int64_t nsr = 1;              // negatives per relevant item, 0 to 4095
  double valid = 0.1;           // share of each user's training items that becomes the validation part
  uint64_t seed = 1;
};

/// One list per user: its relevant items and its negatives, in random order.
struct Part {
  std::vector<int64_t> users, sizes, items;
  std::vector<float> relevance;
};

struct Fold {
  Part train, valid, test;
  int64_t short_users = 0;  // users with fewer unseen items than negatives wanted; their parts share all unseen items
};

/// Each user's relevant items are shuffled and assigned to the folds in rotation; of those that are not test,
/// round(valid x n) (at least 1 of 2 or more, where valid > 0) become validation. Negatives are nsr per relevant item
/// of each part, all different, never a relevant item of the user. The same seed gives the same folds whatever the nsr,
/// and the same negatives for the same (seed, nsr, fold).
Fold make_fold(const Positives& positives, const FoldOptions& options);

}  // namespace mr
