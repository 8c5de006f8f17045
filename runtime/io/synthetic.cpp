#include "runtime/io/synthetic.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <unordered_set>

#include "kernels/core/rng.h"
#include "kernels/math/normal.h"

namespace mr {
namespace {

void at_least_one(const char* name, int64_t value) {
  if (value < 1)
    throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) + ", expected at least 1");
}

/// A Zipf-like draw from 1 .. n with weight 1 / rank^0.8, by inversion of its continuous form.
int64_t popular(double u, int64_t n) {
  const double top = std::pow(static_cast<double>(n) + 1, 0.2);
  return std::clamp<int64_t>(static_cast<int64_t>(std::pow(1 + u * (top - 1), 5)), 1, n);
}

}  // namespace

Ratings make_ratings(const SyntheticRatings& o) {
  at_least_one("users", o.users);
  at_least_one("items", o.items);
  at_least_one("factors", o.factors);
  at_least_one("mean_activity", o.mean_activity);
  const RandomKey activity = random_key(o.seed, "activity"), choice = random_key(o.seed, "choice"),
                  noise = random_key(o.seed, "noise");
  const RandomKey user_factors = random_key(o.seed, "user factors"), item_factors = random_key(o.seed, "item factors");
  Ratings out;
  uint64_t draws = 0;
  for (int64_t u = 0; u < o.users; ++u) {
    // log-normal with the wanted mean: a few users rate very much
    const double size =
        static_cast<double>(o.mean_activity) * std::exp(normal(activity, static_cast<uint64_t>(u)) - 0.5);
    const int64_t wanted = std::clamp<int64_t>(std::llround(size), 1, std::max<int64_t>(1, o.items / 2));
    std::unordered_set<int64_t> seen;
    while (static_cast<int64_t>(seen.size()) < wanted) {
      const int64_t item = popular(uniform(choice, draws++), o.items);
      if (!seen.insert(item).second) continue;
      double taste = 0;
      for (int64_t f = 0; f < o.factors; ++f) {
        taste += normal(user_factors, static_cast<uint64_t>(u * o.factors + f)) *
                 normal(item_factors, static_cast<uint64_t>(item * o.factors + f));
      }
      const double rating = 3.5 + taste / std::sqrt(static_cast<double>(o.factors)) + o.noise * normal(noise, draws);
      out.user.push_back(u + 1);
      out.item.push_back(item);
      out.value.push_back(static_cast<float>(std::clamp(std::round(2 * rating) / 2, 0.5, 5.0)));
    }
  }
  for (int64_t u = 1; u <= o.users; ++u) out.user_ids.push_back(std::to_string(u));
  for (int64_t i = 1; i <= o.items; ++i) out.item_ids.push_back(std::to_string(i));
  return out;
}

LetorFile make_queries(const SyntheticQueries& o) {
  at_least_one("queries", o.queries);
  at_least_one("features", o.features);
  at_least_one("mean_size", o.mean_size);
  const RandomKey sizes = random_key(o.seed, "sizes"), values = random_key(o.seed, "features"),
                  weights = random_key(o.seed, "weights");
  const RandomKey noise = random_key(o.seed, "query noise");
  LetorFile out;
  std::vector<float> features;
  out.width = o.features;
  for (int64_t q = 0; q < o.queries; ++q) {
    const double size =
        static_cast<double>(o.mean_size) * std::exp(0.7 * normal(sizes, static_cast<uint64_t>(q)) - 0.245);
    const int64_t n = std::max<int64_t>(2, std::llround(size));
    out.sizes.push_back(n);
    out.qids.push_back(std::to_string(q + 1));
    for (int64_t d = 0; d < n; ++d) {
      const auto row = static_cast<uint64_t>(out.labels.size());
      double merit = 0;
      for (int64_t f = 0; f < o.features; ++f) {
        const double x = uniform(values, row * static_cast<uint64_t>(o.features) + static_cast<uint64_t>(f));
        features.push_back(static_cast<float>(x));
        merit += normal(weights, static_cast<uint64_t>(f)) * (x - 0.5);
      }
      merit = merit / std::sqrt(static_cast<double>(o.features) / 12) + o.noise * normal(noise, row);
      out.labels.push_back(merit > 1.3 ? 2.0F : merit > 0.7 ? 1.0F : 0.0F);
    }
  }
  out.features = Tensor::from(features).viewed({static_cast<int64_t>(out.labels.size()), out.width});
  return out;
}

}  // namespace mr
