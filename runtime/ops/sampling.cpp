// Distributions from random rankings, made once per shape.
#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <mutex>

#include "kernels/cpu/pool.h"
#include "kernels/cpu/sample_rankings.h"
#include "kernels/math/discount.h"
#include "kernels/tables/arithmetic.h"
#include "runtime/ops/distribution.h"

namespace mr {
namespace {

RandomKey key_of(const ListShape& shape, int64_t seed) {
  const std::string stream = "rankings " + std::to_string(shape.n) + " " + std::to_string(shape.p);
  return random_key(static_cast<uint64_t>(seed), stream.c_str());
}

/// f(first, last) over pieces of the samples, on all threads.
template <class F>
void for_samples(int64_t samples, const F& f) {
  cpu::parallel(samples, 64 * cpu::sample_lanes, f);
}

/// A sampler that draws every level of the gains; its `levels` is 0 where there are too many for that.
RankingSampler level_sampler(const std::vector<double>& gains, const std::vector<double>& d, RandomKey key) {
  RankingSampler sampler{static_cast<int64_t>(gains.size()), 0, Increment::graded, d.data(), key};
  for (size_t r = 0; r < gains.size() && gains[r] > 0; ++r) {
    const double next = r + 1 < gains.size() ? gains[r + 1] : 0;
    if (next == gains[r]) continue;
    if (sampler.levels == most_levels) return {};
    sampler.at_least[sampler.levels] = static_cast<int64_t>(r) + 1;
    sampler.step[sampler.levels++] = gains[r] - next;
  }
  return sampler;
}

/// What `sampler` draws on the GPU: the same bits.
void fill_there(RankingSampler sampler, std::vector<double>& values, Device device) {
  const Tensor d = Tensor::from(std::vector<double>(sampler.d, sampler.d + sampler.n), device);
  const Tensor out = Tensor::empty({static_cast<int64_t>(values.size())}, Dtype::float64, device);
  sampler.d = d.span<double>().data;
  kernels<ArithmeticKernels<double>>(device).sample_rankings(out.entries(), {sampler, out.span<double>()});
  out.copy_to_host(values.data());
}

/// values[s] = what `sampler` draws, for all samples.
void fill_samples(const RankingSampler& sampler, std::vector<double>& values, Device device) {
  if (device == Device::cuda) return fill_there(sampler, values, device);
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

/// Sums of random orders of the grades.
std::vector<double> sample_graded(const std::vector<double>& d, const ListShape& shape, int64_t samples, RandomKey key,
                                  Device device) {
  const std::vector<double> gains = gains_of(shape);
  std::vector<double> values(static_cast<size_t>(samples));
  const RankingSampler sampler = level_sampler(gains, d, key);
  if (sampler.levels > 0) {
    fill_samples(sampler, values, device);
  } else {
    fill_shuffled(gains, d, key, values);
  }
  return values;
}

}  // namespace

std::vector<double> sample_metric(const BoundedMetric& metric, const ListShape& shape, int64_t samples, int64_t seed,
                                  Device device) {
  if (samples < 1 || samples > 100'000'000)
    throw ArgumentError("samples", std::to_string(samples) + ", expected 1 to 100000000");
  const Increments increments = increments_of(metric, shape);
  const RandomKey key = key_of(shape, seed);
  std::vector<double> values(static_cast<size_t>(samples));
  if (increments.kind == Increment::graded) {
    values = sample_graded(increments.d, shape, samples, key, device);
  } else {
    fill_samples({shape.n, shape.p, increments.kind, increments.d.data(), key}, values, device);
  }
  for (double& value : values) value = increments.scale * value - increments.shift;
  return values;
}

}  // namespace mr
