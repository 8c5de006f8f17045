// Smoothed distribution functions of metrics over random rankings. They are computed once per list shape (numbers of
// rows and of relevant rows, or grades) and cached.
#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <mutex>

#include "kernels/core/threads.h"
#include "runtime/bounds/smooth_cdf.h"

namespace mr {
namespace {

// Largest size of the cache of distribution functions, in bytes. MovieLens with 300,000 samples and the steepness of
// Westerborg 2022 needs half of it per metric. If the tables of one epoch did not fit, every batch would be sampled
// again.
constexpr int64_t most_bytes = int64_t{1} << 30;

/// Returns the cache key of a smoothed distribution function: text with everything that it depends on. For an exact
/// one, `samples` and `seed` are 0.
std::string key_text(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed,
                     const Smoothing& how) {
  char text[128];
  std::snprintf(text, sizeof text, " %lld %lld %lld %lld %d %a %a", static_cast<long long>(shape.n),
                static_cast<long long>(shape.p), static_cast<long long>(samples), static_cast<long long>(seed),
                static_cast<int>(how.kind), how.amount, shape.beta);
  std::string key = metric.canonical() + text;
  if (shape.gain == Gain::linear) key += " linear";
  for (const float grade : shape.grades) {
    std::snprintf(text, sizeof text, " %a", static_cast<double>(grade));
    key += text;
  }
  return key;
}

int64_t bytes_of(const SmoothCdf& cdf) {
  return std::visit([](const auto& form) { return form->bytes() + static_cast<int64_t>(sizeof *form); }, cdf);
}

/// A cache of smoothed distribution functions. When it is full, the least recently used one is dropped.
class Cache {
 public:
  std::optional<SmoothCdf> find(const std::string& key) {
    const std::lock_guard lock(mutex_);
    const auto at = entries_.find(key);
    if (at == entries_.end()) return std::nullopt;
    order_.splice(order_.begin(), order_, at->second);
    return at->second->cdf;
  }

  void put(std::string key, SmoothCdf cdf) {
    const std::lock_guard lock(mutex_);
    if (entries_.count(key) != 0) return;
    bytes_ += bytes_of(cdf);
    order_.push_front({std::move(key), std::move(cdf)});
    entries_[order_.front().key] = order_.begin();
    for (; bytes_ > most_bytes && order_.size() > 1; order_.pop_back()) {
      bytes_ -= bytes_of(order_.back().cdf);
      entries_.erase(order_.back().key);
    }
  }

 private:
  struct Entry {
    std::string key;
    SmoothCdf cdf;
  };

  std::mutex mutex_;
  std::list<Entry> order_;
  std::map<std::string, std::list<Entry>::iterator> entries_;
  int64_t bytes_ = 0;
};

Cache& cache() {
  static Cache the_cache;
  return the_cache;
}

bool has_series(const Metric& metric, const ListShape& shape, const Finding& finding, const Smoothing& how) {
  return how.kind != Smoothing::by_samples && is_exact(metric, shape, finding.method) && has_spectrum(metric, shape);
}

double series_steepness(const Metric& metric, const ListShape& shape, const Smoothing& how) {
  const double sd = moments_of(metric, shape).sd;
  check_spread(metric, shape, sd);
  const BoundStats stats = bound_stats(metric, shape, false);
  return how.steepness(sd, stats.max - stats.min);
}

/// Computes a smoothed distribution function from samples. Returns nothing if another process is drawing the same
/// samples now and `busy` is Busy::leave.
std::optional<SmoothCdf> made_of_samples(const Metric& metric, const ListShape& shape, const Finding& finding,
                                         const Smoothing& how, Busy busy) {
  const auto listed = sampled_distribution({metric, shape, finding.samples, finding.seed},
                                           samplings_of(finding.also, shape, finding), finding.device, busy);
  if (!listed) return std::nullopt;
  check_spread(metric, shape, listed->sd());
  if (how.kind == Smoothing::by_samples) return listed;
  return RankingDistribution(listed, "sampled").table(how);
}

std::optional<SmoothCdf> made(const Metric& metric, const ListShape& shape, const Finding& finding,
                              const Smoothing& how, Busy busy) {
  if (!is_exact(metric, shape, finding.method)) return made_of_samples(metric, shape, finding, how, busy);
  // Computes the table of the smoothed distribution function from its Fourier series. A RankingDistribution would also
  // list all values of the metric, which takes longer.
  if (has_series(metric, shape, finding, how))
    return std::make_shared<const LogitTable>(Spectrum(metric, shape, series_steepness(metric, shape, how)));
  const RankingDistribution distribution(metric, shape, finding);
  if (how.kind == Smoothing::by_samples) return std::make_shared<const Distribution>(distribution.listed());
  return distribution.table(how);
}

/// Computes smoothed distribution functions of list shapes on all threads of the CPU. Those whose samples another
/// process is drawing now come last.
std::vector<SmoothCdf> made_here(const Metric& metric, const std::vector<ListShape>& shapes, const Finding& finding,
                                 const Smoothing& how) {
  std::vector<std::optional<SmoothCdf>> found(shapes.size());
  const auto count = static_cast<int64_t>(shapes.size());
  for (const Busy busy : {Busy::leave, Busy::wait}) {
    const auto make = [&](size_t i) {
      if (!found[i]) found[i] = made(metric, shapes[i], finding, how, busy);
    };
    if (count >= cpu::threads()) {
      cpu::parallel_each(count, 1, make);
    } else {
      for (size_t i = 0; i < shapes.size(); ++i) make(i);
    }
  }
  std::vector<SmoothCdf> out;
  for (std::optional<SmoothCdf>& each : found) out.push_back(std::move(*each));
  return out;
}

/// Computes smoothed distribution functions of list shapes on the GPU, with the characteristic functions of all shapes
/// in one batch. Shapes without a Fourier series are computed one by one.
std::vector<SmoothCdf> made_there(const Metric& metric, const std::vector<ListShape>& shapes, const Finding& finding,
                                  const Smoothing& how, Device device) {
  std::vector<SmoothCdf> out(shapes.size());
  std::vector<ListShape> in_series;
  std::vector<double> steepnesses;
  std::vector<size_t> index;
  for (size_t i = 0; i < shapes.size(); ++i) {
    if (!has_series(metric, shapes[i], finding, how)) {
      out[i] = *made(metric, shapes[i], finding, how, Busy::wait);
      continue;
    }
    in_series.push_back(shapes[i]);
    steepnesses.push_back(series_steepness(metric, shapes[i], how));
    index.push_back(i);
  }
  const std::vector<Spectrum> series = Spectrum::of(metric, in_series, steepnesses, device);
  cpu::parallel_each(static_cast<int64_t>(series.size()), 1, [&](int64_t i) {
    out[index[static_cast<size_t>(i)]] = std::make_shared<const LogitTable>(series[static_cast<size_t>(i)]);
  });
  return out;
}

}  // namespace

std::vector<std::optional<SmoothCdf>> smooth_cdfs(const Metric& metric, const std::vector<ListShape>& shapes,
                                                  const Finding& finding, const Smoothing& how, Device device) {
  const auto key_of = [&](const ListShape& shape) {
    const bool exact = is_exact(metric, shape, finding.method);
    return key_text(metric, shape, exact ? 0 : finding.samples, exact ? 0 : finding.seed, how);
  };
  std::map<ListShape, std::optional<SmoothCdf>> known;
  std::vector<ListShape> missing;
  for (const ListShape& shape : shapes) {
    if (degenerate(metric, shape) || known.count(shape) != 0) continue;
    const std::optional<SmoothCdf>& kept = known[shape] = cache().find(key_of(shape));
    if (!kept) missing.push_back(shape);
  }
  // Shapes of long lists take longest and are computed first, so that all threads end at about the same time.
  std::stable_sort(missing.begin(), missing.end(), [](const auto& a, const auto& b) { return a.n > b.n; });
  Finding there = finding;
  there.device = device;
  const std::vector<SmoothCdf> fresh =
      device == Device::cuda ? made_there(metric, missing, there, how, device) : made_here(metric, missing, there, how);
  for (size_t i = 0; i < missing.size(); ++i) {
    cache().put(key_of(missing[i]), fresh[i]);
    known[missing[i]] = fresh[i];
  }
  std::vector<std::optional<SmoothCdf>> out;
  for (const ListShape& shape : shapes) out.push_back(degenerate(metric, shape) ? std::nullopt : known[shape]);
  return out;
}

}  // namespace mr
