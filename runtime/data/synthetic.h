// Synthetic data that resembles real data, for tests and for machines without data sets.
#pragma once

#include "runtime/data/interactions/ratings.h"
#include "runtime/data/letor/letor.h"

namespace mr {

/// Synthetic ratings 0.5, 1, ... 5, which follow from random latent factors of users and items, and noise. The number
/// of ratings per user is log-normal. The popularity of items follows a power law.
struct SyntheticRatings {
  int64_t users = 400, items = 4000, factors = 8, mean_activity = 120;
  double noise = 0.7;
  uint64_t seed = 1;
};
Ratings make_ratings(const SyntheticRatings& options);

/// Synthetic queries with features in [0, 1]. The grade of a document, 0 to 2, depends on a linear function of its
/// features and on noise.
struct SyntheticQueries {
  int64_t queries = 200, features = 20, mean_size = 20;
  double noise = 0.5;
  uint64_t seed = 1;
};
LetorFile make_queries(const SyntheticQueries& options);

}  // namespace mr
