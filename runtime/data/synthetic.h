// Made-up data in the shape of the real: for tests, and for machines without data.
#pragma once

#include "runtime/data/letor.h"
#include "runtime/data/ratings.h"

namespace mr {

/// Ratings 0.5, 1, ... 5 of users by latent factors and noise. Activity of users and popularity of items follow power
/// laws.
struct SyntheticRatings {
  int64_t users = 400, items = 4000, factors = 8, mean_activity = 120;
  double noise = 0.7;
  uint64_t seed = 1;
};
Ratings make_ratings(const SyntheticRatings& options);

/// Queries with features in [0, 1] and grades 0 to 2 that a linear function of the features and noise decide.
struct SyntheticQueries {
  int64_t queries = 200, features = 20, mean_size = 20;
  double noise = 0.5;
  uint64_t seed = 1;
};
LetorFile make_queries(const SyntheticQueries& options);

}  // namespace mr
