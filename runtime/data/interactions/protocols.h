// Divides interactions (pairs of a user and an item) into train, validation and test. Every interaction is in exactly
// one part.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/data/interactions/split.h"

namespace mr {

constexpr int8_t train_part = 0, valid_part = 1, test_part = 2;

struct Division {
  std::vector<int8_t> part_of;  // for every interaction, its part: 0 train, 1 validation, 2 test
  /// Only for splits by cold items: for each part (train, validation, test) the items that belong to it, ascending.
  /// Negatives of the part are drawn from these items.
  std::array<std::vector<int64_t>, 3> pools;
  int64_t whole_users = 0;
};

/// Divides `positives`, the relevant interactions of users and items, into train, validation and test. The methods:
/// - time: interactions from time `at` on, or the latest share, are test; the latest share of the rest is validation.
///   Interactions with equal times stay together.
/// - last: of each user's items, the last n by time (equal times by row) are test, and the n before them validation
///   (none if valid is 0). A user who has no item beyond these has all items in train. `one` is the same with random
///   items.
/// - user_time: of each user's items the latest share, at least n, is test; of the rest the latest share is validation.
///   A user without enough items for test has all of them in train.
/// - share: of each user's items a random share (rounded, at least 1 of 2 or more) is test; of the rest a random share
///   is validation. Every fold draws anew.
/// - cold_user, cold_item: users or items are shuffled and assigned to the folds in rotation, with all of their
///   interactions; a share of the users or items outside the fold is validation.
/// - given: by the file of an interaction: 0 train, 1 validation, 2 test. Without a validation file, a random share of
///   each user's items in train is validation.
/// Throws if times or files are needed and missing, and if train or test would be empty.
Division divide(const Positives& positives, const FoldOptions& options);

/// Returns how many of n things a share is: rounded, at least 1 and less than n. It is 0 if `share` is 0 or if n is
/// below 2.
int64_t rounded_share(double share, size_t n);

}  // namespace mr
