// How interactions are divided into train, validation and test; every one is in exactly one part.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "runtime/data/split.h"

namespace mr {

struct Division {
  std::vector<int8_t> part_of;  // of every item of every user: 0 train, 1 validation, 2 test
  /// For splits by cold items: the items of each part, ascending, from which its negatives are
  /// drawn. Else empty.
  std::array<std::vector<int64_t>, 3> pools;
  int64_t whole_users = 0;
};

/// time: test is what is not before `at`, or the latest share of all; validation is the latest share of the rest. Rows
///   of one time stay together.
/// last, one: n items of each user are test and n validation (none where valid is 0): the last by time (of equal times
///   by row), or random ones. Users with no more than these have all items in train.
/// user_time: of each user's items the latest share, at least n, is test, of the rest the latest share validation.
///   Users with no more than these for test have all items in train.
/// share: of each user's items a random share (rounded, at least 1 of 2 or more) is test, of the rest one validation;
///   drawn anew for every fold.
/// cold_user, cold_item: users or items are shuffled and assigned to the folds in rotation, with all that is theirs; of
///   the others a share is for validation.
/// given: by the files that they are from: 0 train, 1 validation, 2 test. Without validation a random share of each
///   user's items of train is.
/// Throws where times or files are needed and not there, and where train or test would be empty.
Division divide(const Positives& positives, const FoldOptions& options);

/// How many of n a share is: rounded, at least 1 and not all of 2 or more.
int64_t rounded_share(double share, size_t n);

}  // namespace mr
