// Distributions from random rankings, made once per shape.
#include <algorithm>
#include <cmath>
#include <list>
#include <map>
#include <mutex>

#include "kernels/bounds/rows.h"
#include "kernels/bounds/sample_rankings_cpu.h"
#include "kernels/core/threads.h"
#include "runtime/bounds/distribution.h"
#include "runtime/bounds/increments.h"
#include "runtime/ranking/random_order.h"

namespace mr {
namespace {

RandomKey key_of(const ListShape& shape, int64_t seed) {
  const std::string stream = "rankings " + std::to_string(shape.n) + " " + std::to_string(shape.p);
  return random_key(static_cast<uint64_t>(seed), stream.c_str());
}

/// f(first, last) over pieces of the samples of n rows, on all threads; short enough for Ctrl-C to be seen between
/// them.
template <class F>
void for_samples(int64_t samples, int64_t n, const F& f) {
  constexpr int64_t rows = int64_t{1} << 20;
  cpu::parallel(samples, std::clamp<int64_t>(rows / std::max<int64_t>(n, 1), 1, 64) * cpu::sample_lanes, f);
}

/// The weights with which relevant rows, or those of each level, are drawn; 1 for rows that gain nothing.
void set_weights(const ListShape& shape, RankingSampler& sampler) {
  const Level nothing{0, 0, 0};
  sampler.weighted = shape.beta != 0;
  int64_t l = 0;
  for (const Level& level : levels_of(shape)) {
    if (level.gain > 0 && l < most_levels) sampler.weight[l++] = level.weight_against(nothing);
  }
}

/// A sampler that draws every level of the gains; its `levels` is 0 where there are too many for that.
RankingSampler level_sampler(const ListShape& shape, const std::vector<double>& d, RandomKey key) {
  RankingSampler sampler{.n = shape.n, .increment = Increment::graded, .d = d.data(), .key = key};
  const std::vector<Level> levels = levels_of(shape);
  int64_t rows = 0;
  for (size_t l = 0; l < levels.size() && levels[l].gain > 0; ++l) {
    if (sampler.levels == most_levels) return {};
    rows += levels[l].rows;
    sampler.at_least[sampler.levels] = rows;
    sampler.step[sampler.levels++] = levels[l].gain - (l + 1 < levels.size() ? levels[l + 1].gain : 0);
  }
  return sampler;
}

/// What `sampler` draws on the GPU: the same bits.
void fill_there(RankingSampler sampler, std::vector<double>& values, Device device) {
  const Tensor d = Tensor::from(std::vector<double>(sampler.d, sampler.d + sampler.n), device);
  const Tensor out = Tensor::empty({static_cast<int64_t>(values.size())}, Dtype::float64, device);
  sampler.d = d.span<double>().data;
  kernels<BoundKernels<double>>(device).sample_rankings(out.entries(), {sampler, out.span<double>()});
  out.copy_to_host(values.data());
}

/// values[s] = what `sampler` draws, for all samples.
void fill_samples(const RankingSampler& sampler, std::vector<double>& values, Device device) {
  if (device == Device::cuda) return fill_there(sampler, values, device);
  const auto samples = static_cast<int64_t>(values.size());
  // the last vector of lanes may go beyond the samples
  values.resize((values.size() + cpu::sample_lanes - 1) / cpu::sample_lanes * cpu::sample_lanes);
  for_samples(static_cast<int64_t>(values.size()), sampler.n, [&](int64_t first, int64_t last) {
    cpu::sample_rankings(sampler, first, last - first, values.data() + first);
  });
  values.resize(static_cast<size_t>(samples));
}

/// An order per sample, for gains that are all different or nearly so.
void fill_ordered(const ListShape& shape, const std::vector<double>& d, RandomKey key, std::vector<double>& values) {
  const std::vector<double> gains = gains_of(shape);
  std::vector<double> pulls;
  for (const float grade : shape.grades) pulls.push_back(shape.beta * grade);
  for_samples(static_cast<int64_t>(values.size()), shape.n, [&](int64_t first, int64_t last) {
    RandomOrder order(pulls, key);
    for (int64_t s = first; s < last; ++s) {
      const std::vector<int64_t>& rows = order.next(static_cast<uint64_t>(s));
      values[s] = 0;
      for (size_t r = 0; r < rows.size(); ++r) values[s] += gains[static_cast<size_t>(rows[r])] * d[r];
    }
  });
}

}  // namespace

std::vector<double> sample_metric(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed,
                                  Device device) {
  if (samples < 1 || samples > 100'000'000)
    throw ArgumentError("samples", std::to_string(samples) + ", expected 1 to 100000000");
  const Increments increments = increments_of(metric, shape);
  const RandomKey key = key_of(shape, seed);
  RankingSampler sampler =
      increments.kind == Increment::graded
          ? level_sampler(shape, increments.d, key)
          : RankingSampler{
                .n = shape.n, .p = shape.p, .increment = increments.kind, .d = increments.d.data(), .key = key};
  set_weights(shape, sampler);
  std::vector<double> values(static_cast<size_t>(samples));
  if (sampler.n > 0) {
    fill_samples(sampler, values, device);
  } else {
    fill_ordered(shape, increments.d, key, values);
  }
  for (double& value : values) value = increments.scale * value - increments.shift;
  return values;
}

}  // namespace mr
