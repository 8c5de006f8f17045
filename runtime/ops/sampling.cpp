// Distributions from random rankings, made once per shape.
#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <mutex>

#include "kernels/cpu/pool.h"
#include "kernels/cpu/sample_rankings.h"
#include "kernels/math/discount.h"
#include "runtime/ops/distribution.h"

namespace mr {
namespace {

// MovieLens with 300,000 samples by the thesis' gain takes half of this per metric; where all of a pass over the data
// does not fit, every batch would be sampled anew
constexpr int64_t most_bytes = int64_t{1} << 30;

/// What ranks add, and what makes the metric of the sum: value = scale * sum - shift.
struct Increments {
  cpu::Increment kind = cpu::Increment::linear;
  std::vector<double> d;
  double scale = 1, shift = 0;
};

Increments increments_of(const BoundedMetric& metric, const ListShape& shape) {
  Increments out;
  const auto p = static_cast<double>(shape.p);
  double ideal = 0;
  for (int64_t r = 1; r <= shape.n; ++r) {
    const auto rank = static_cast<double>(r);
    const bool counts = r <= metric.k;
    switch (metric.family) {
      case BoundedMetric::ndcg:
        out.d.push_back(counts ? discount(rank) : 0);
        break;
      case BoundedMetric::ap:
      case BoundedMetric::rr:
        out.d.push_back(1 / rank);
        break;
      case BoundedMetric::nrbp_loss:
        out.d.push_back(rank - 1);
        break;
      case BoundedMetric::rbp:
      case BoundedMetric::nrbp:
        out.d.push_back(std::pow(metric.p, rank - 1));
        break;
      case BoundedMetric::precision:
      case BoundedMetric::recall:
        out.d.push_back(counts ? 1 : 0);
        break;
    }
    if (r <= shape.p) ideal += out.d.back();
  }
  switch (metric.family) {
    case BoundedMetric::ndcg:
      out.scale = 1 / ideal;
      break;
    case BoundedMetric::ap:
      out.kind = cpu::Increment::average_precision;
      out.scale = 1 / p;
      break;
    case BoundedMetric::rr:
      out.kind = cpu::Increment::first;
      break;
    case BoundedMetric::nrbp_loss:
      out.shift = p * (p - 1) / 2;
      break;
    case BoundedMetric::rbp:
      out.scale = 1 - metric.p;
      break;
    case BoundedMetric::nrbp:
      out.scale = (1 - metric.p) / (1 - std::pow(metric.p, p));
      break;
    case BoundedMetric::precision:
      out.scale = 1 / static_cast<double>(metric.k);
      break;
    case BoundedMetric::recall:
      out.scale = 1 / p;
      break;
  }
  return out;
}

RandomKey key_of(const ListShape& shape, int64_t seed) {
  const std::string stream = "rankings " + std::to_string(shape.n) + " " + std::to_string(shape.p);
  return random_key(static_cast<uint64_t>(seed), stream.c_str());
}

/// f(first, last) over pieces of the samples, on all threads.
template <class F>
void for_samples(int64_t samples, const F& f) {
  cpu::parallel(
      samples, 64 * cpu::sample_lanes,
      [](const void* c, int64_t first, int64_t last) { (*static_cast<const F*>(c))(first, last); }, &f);
}

/// The gains of a shape, highest first.
std::vector<double> gains_of(const ListShape& shape) {
  std::vector<double> gains;
  for (const float grade : shape.grades) gains.push_back(gain_of(grade));
  return gains;
}

/// A sampler that draws every level of the gains; its `levels` is 0 where there are too many for that.
cpu::RankingSampler level_sampler(const std::vector<double>& gains, const std::vector<double>& d, RandomKey key) {
  cpu::RankingSampler sampler{static_cast<int64_t>(gains.size()), 0, cpu::Increment::graded, d.data(), key};
  for (size_t r = 0; r < gains.size() && gains[r] > 0; ++r) {
    const double next = r + 1 < gains.size() ? gains[r + 1] : 0;
    if (next == gains[r]) continue;
    if (sampler.levels == cpu::most_levels) return {};
    sampler.at_least[sampler.levels] = static_cast<int64_t>(r) + 1;
    sampler.step[sampler.levels++] = gains[r] - next;
  }
  return sampler;
}

/// values[s] = what `sampler` draws, for all samples.
void fill_samples(const cpu::RankingSampler& sampler, std::vector<double>& values) {
  const auto samples = static_cast<int64_t>(values.size());
  // the last vector of lanes may go beyond the samples
  values.resize((values.size() + cpu::sample_lanes - 1) / cpu::sample_lanes * cpu::sample_lanes);
  for_samples(static_cast<int64_t>(values.size()), [&](int64_t first, int64_t last) {
    cpu::sample_rankings(sampler, first, last - first, values.data() + first);
  });
  values.resize(static_cast<size_t>(samples));
}

/// A shuffle per sample, for gains that are all different or nearly so.
void fill_shuffled(const std::vector<double>& gains, const std::vector<double>& d, RandomKey key,
                   std::vector<double>& values) {
  const auto n = static_cast<int64_t>(gains.size());
  for_samples(static_cast<int64_t>(values.size()), [&](int64_t first, int64_t last) {
    std::vector<double> order;
    for (int64_t s = first; s < last; ++s) {
      order = gains;
      values[s] = 0;
      for (int64_t r = 0; r < n; ++r) {
        const uint64_t bits = philox(key, static_cast<uint64_t>(s), static_cast<uint64_t>(r)).low();
        std::swap(order[r], order[r + static_cast<int64_t>(bounded(bits, static_cast<uint64_t>(n - r)))]);
        values[s] += order[r] * d[r];
      }
    }
  });
}

/// nDCG of random orders of the grades.
std::vector<double> sample_graded(const BoundedMetric& metric, const ListShape& shape, int64_t samples, RandomKey key) {
  const std::vector<double> gains = gains_of(shape);
  std::vector<double> d, values(static_cast<size_t>(samples));
  double ideal = 0;
  for (int64_t r = 0; r < shape.n; ++r) {
    d.push_back(r < metric.k ? discount(static_cast<double>(r) + 1) : 0);
    ideal += gains[r] * d.back();
  }
  const cpu::RankingSampler sampler = level_sampler(gains, d, key);
  if (sampler.levels > 0) {
    fill_samples(sampler, values);
  } else {
    fill_shuffled(gains, d, key, values);
  }
  for (double& value : values) value /= ideal;
  return values;
}

/// Kept distributions, the most recently used in front.
class Cache {
 public:
  using Key = std::tuple<std::string, ListShape, int64_t, int64_t, double>;
  using Value = std::shared_ptr<const SmoothCdf>;

  Value find(const Key& key) {
    const std::lock_guard lock(mutex_);
    const auto at = places_.find(key);
    if (at == places_.end()) return nullptr;
    order_.splice(order_.begin(), order_, at->second);
    return at->second->second;
  }

  void put(const Key& key, const Value& value) {
    const std::lock_guard lock(mutex_);
    if (places_.count(key) != 0) return;
    order_.emplace_front(key, value);
    places_[key] = order_.begin();
    bytes_ += value->bytes();
    while (bytes_ > most_bytes && order_.size() > 1) {
      bytes_ -= order_.back().second->bytes();
      places_.erase(order_.back().first);
      order_.pop_back();
    }
  }

 private:
  std::mutex mutex_;
  std::list<std::pair<Key, Value>> order_;
  std::map<Key, std::list<std::pair<Key, Value>>::iterator> places_;
  int64_t bytes_ = 0;
};

Cache& cache() {
  static Cache the_cache;
  return the_cache;
}

}  // namespace

std::vector<double> sample_metric(const BoundedMetric& metric, const ListShape& shape, int64_t samples, int64_t seed) {
  if (samples < 1 || samples > 100'000'000)
    throw ArgumentError("samples", std::to_string(samples) + ", expected 1 to 100000000");
  if (!shape.grades.empty()) return sample_graded(metric, shape, samples, key_of(shape, seed));
  const Increments increments = increments_of(metric, shape);
  std::vector<double> values(static_cast<size_t>(samples));
  fill_samples({shape.n, shape.p, increments.kind, increments.d.data(), key_of(shape, seed)}, values);
  for (double& value : values) value = increments.scale * value - increments.shift;
  return values;
}

std::vector<std::shared_ptr<const SmoothCdf>> sampled_cdfs(const BoundedMetric& metric,
                                                           const std::vector<ListShape>& shapes, int64_t samples,
                                                           int64_t seed, Smoothing how) {
  const auto key_for = [&](const ListShape& shape) {
    return Cache::Key{metric.name, shape, samples, seed, how.by_samples ? 0 : how.kappa};
  };
  std::map<ListShape, std::shared_ptr<const SmoothCdf>> known;
  std::vector<ListShape> missing;
  for (const ListShape& shape : shapes) {
    if (shape.degenerate() || known.count(shape) != 0) continue;
    if (!(known[shape] = cache().find(key_for(shape)))) missing.push_back(shape);
  }
  // the costly ones first, so that no thread is left alone with one at the end
  std::stable_sort(missing.begin(), missing.end(), [](const auto& a, const auto& b) { return a.n > b.n; });
  std::vector<std::shared_ptr<const SmoothCdf>> made(missing.size());
  const auto make = [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      made[i] = std::make_shared<SmoothCdf>(Distribution(sample_metric(metric, missing[i], samples, seed)), how);
    }
  };
  if (static_cast<int64_t>(missing.size()) >= cpu::threads()) {
    cpu::parallel(
        static_cast<int64_t>(missing.size()), 1,
        [](const void* c, int64_t first, int64_t last) { (*static_cast<decltype(make)*>(c))(first, last); }, &make);
  } else {
    make(0, static_cast<int64_t>(missing.size()));
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    cache().put(key_for(missing[i]), made[i]);
    known[missing[i]] = made[i];
  }
  std::vector<std::shared_ptr<const SmoothCdf>> out;
  for (const ListShape& shape : shapes) out.push_back(shape.degenerate() ? nullptr : known[shape]);
  return out;
}

}  // namespace mr
