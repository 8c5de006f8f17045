#include "runtime/data/synthetic.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <initializer_list>
#include <stdexcept>
#include <string>
#include <unistd.h>
#include <unordered_set>

#include "kernels/core/powers.h"
#include "kernels/core/rng.h"
#include "kernels/core/threads.h"
#include "kernels/tensor/normal.h"

namespace mr {
namespace {

struct Size {
  const char* name;
  int64_t value;
};

constexpr int64_t most_factors = 1'000'000;

void at_least_one(std::initializer_list<Size> sizes) {
  for (const auto& [name, value] : sizes) {
    if (value < 1)
      throw std::invalid_argument(std::string(name) + " is " + std::to_string(value) + ", expected at least 1");
  }
}

/// Throws if the data would need more memory than this machine has. This is checked first, because sizes near 2^63
/// would overflow in later computations.
void fits(std::initializer_list<Size> sizes, double bytes) {
  const double memory = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  if (bytes <= memory) return;
  const auto [name, value] =
      *std::max_element(sizes.begin(), sizes.end(), [](const Size& a, const Size& b) { return a.value < b.value; });
  char text[160];
  std::snprintf(text, sizeof text,
                " is %lld: the data would need about %.3g GB of memory, but this machine has %.3g GB",
                static_cast<long long>(value), bytes / 1e9, memory / 1e9);
  throw std::invalid_argument(name + std::string(text));
}

/// Turns a uniform random number u into a number from 1 to n, where k has a weight of about 1 / k^0.8 (Zipf-like). Low
/// numbers are drawn most often.
int64_t popular(double u, int64_t n) {
  const double top = portable::pow(static_cast<double>(n) + 1, 0.2);
  return std::clamp<int64_t>(static_cast<int64_t>(portable::pow(1 + u * (top - 1), 5)), 1, n);
}

}  // namespace

Ratings make_ratings(const SyntheticRatings& o) {
  const std::initializer_list<Size> sizes{
      {"users", o.users}, {"items", o.items}, {"mean_activity", o.mean_activity}, {"factors", o.factors}};
  at_least_one(sizes);
  if (o.factors > most_factors) {
    throw std::invalid_argument("factors is " + std::to_string(o.factors) + ", expected at most " +
                                std::to_string(most_factors));
  }
  const auto users = static_cast<double>(o.users), items = static_cast<double>(o.items);
  // Throws if the ratings need more memory than there is: 20 bytes per rating for two integers and a value, and 32
  // bytes for the name of each user and item.
  fits(sizes, users * std::min(1.0 + static_cast<double>(o.mean_activity), items / 2) * 20 + (users + items) * 32);
  const RandomKey activity = random_key(o.seed, "activity"), choice = random_key(o.seed, "choice"),
                  noise = random_key(o.seed, "noise");
  const RandomKey user_factors = random_key(o.seed, "user factors"), item_factors = random_key(o.seed, "item factors");
  Ratings out;
  out.has_ratings = true;
  std::vector<double> own(static_cast<size_t>(o.factors));
  uint64_t draws = 0;
  for (int64_t u = 0; u < o.users; ++u) {
    // The number of a user's ratings is log-normal with the given mean, so that a few users rate very many items.
    const double size =
        static_cast<double>(o.mean_activity) * portable::exp(normal(activity, static_cast<uint64_t>(u)) - 0.5);
    const int64_t wanted = std::clamp<int64_t>(std::llround(size), 1, std::max<int64_t>(1, o.items / 2));
    for (int64_t f = 0; f < o.factors; ++f) own[f] = normal(user_factors, static_cast<uint64_t>(u * o.factors + f));
    std::unordered_set<int64_t> seen;
    while (static_cast<int64_t>(seen.size()) < wanted) {
      const int64_t item = popular(uniform(choice, draws++), o.items);
      cpu::check_interrupt();
      if (!seen.insert(item).second) continue;
      double taste = 0;
      for (int64_t f = 0; f < o.factors; ++f)
        taste += own[f] * normal(item_factors, static_cast<uint64_t>(item * o.factors + f));
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
  const std::initializer_list<Size> given{{"queries", o.queries}, {"features", o.features}, {"mean_size", o.mean_size}};
  at_least_one(given);
  const double rows = static_cast<double>(o.queries) * std::max(2.0, static_cast<double>(o.mean_size));
  fits(given, rows * 4 * (static_cast<double>(o.features) + 1) + static_cast<double>(o.queries) * 40);
  const RandomKey sizes = random_key(o.seed, "sizes"), values = random_key(o.seed, "features"),
                  weights = random_key(o.seed, "weights");
  const RandomKey noise = random_key(o.seed, "query noise");
  LetorFile out;
  std::vector<double> weight(static_cast<size_t>(o.features));
  for (int64_t f = 0; f < o.features; ++f) weight[f] = normal(weights, static_cast<uint64_t>(f));
  std::vector<float> features;
  out.width = o.features;
  for (int64_t q = 0; q < o.queries; ++q) {
    const double size =
        static_cast<double>(o.mean_size) * portable::exp(0.7 * normal(sizes, static_cast<uint64_t>(q)) - 0.245);
    const int64_t n = std::max<int64_t>(2, std::llround(size));
    out.sizes.push_back(n);
    out.qids.push_back(std::to_string(q + 1));
    for (int64_t d = 0; d < n; ++d) {
      cpu::check_interrupt();
      const auto row = static_cast<uint64_t>(out.labels.size());
      double merit = 0;
      for (int64_t f = 0; f < o.features; ++f) {
        const double x = uniform(values, row * static_cast<uint64_t>(o.features) + static_cast<uint64_t>(f));
        features.push_back(static_cast<float>(x));
        merit += weight[f] * (x - 0.5);
      }
      merit = merit / std::sqrt(static_cast<double>(o.features) / 12) + o.noise * normal(noise, row);
      out.labels.push_back(merit > 1.3 ? 2.0F : merit > 0.7 ? 1.0F : 0.0F);
    }
  }
  out.features = Tensor::from(features).viewed({static_cast<int64_t>(out.labels.size()), out.width});
  return out;
}

}  // namespace mr
