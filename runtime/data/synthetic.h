// Synthetic data with the shape of real data, for tests and for machines without data sets.
#pragma once

#include "runtime/data/interactions/ratings.h"
#include "runtime/data/letor/letor.h"

namespace mr {

/// Ratings 0.5, 1, ... 5 from latent factors and noise. Activity of users and popularity of items follow power laws.
struct SyntheticRatings {
  int64_t users = 400, items = 4000, factors = 8, mean_activity = 120;
  double noise = 0.7;
  uint64_t seed = 1;
};
Ratings make_ratings(const SyntheticRatings& options);

/// Queries with features in [0, 1]. Grades 0 to 2 depend on a linear function of the features and on noise.
struct SyntheticQueries {
  int64_t queries = 200, features = 20, mean_size = 20;
  double noise = 0.5;
  uint64_t seed = 1;
};
LetorFile make_queries(const SyntheticQueries& options);

}  // namespace mr
