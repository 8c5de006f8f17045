// Draws random rankings of a list shape (numbers of rows and of relevant rows, or grades) and computes metrics of them.
// Kernels draw for each rank only whether its row is relevant, or which gain it has. For metrics of pairs, and for
// lists with many distinct gains, whole orders of rows are drawn instead.
#include "runtime/bounds/samples/sampling.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "kernels/bounds/rows.h"
#include "kernels/bounds/sample_rankings_cpu.h"
#include "kernels/core/numerics.h"
#include "kernels/core/threads.h"
#include "runtime/io/files/sha256.h"
#include "runtime/ranking/random_order.h"

namespace mr {
namespace {

/// The version of the way in which samples are drawn and summed, as part of the cache key. Change it with every change
/// that can give other values for the same increments (the terms of a metric).
constexpr const char* version = "moonrank samples 1";

RandomKey key_of(const ListShape& shape, int64_t seed) {
  const std::string stream = "rankings " + std::to_string(shape.n) + " " + std::to_string(shape.p);
  return random_key(static_cast<uint64_t>(seed), stream.c_str());
}

/// Calls f(first, last) for ranges of the samples' numbers, on all threads. Ranges are short, so that Ctrl-C is noticed
/// soon.
template <class F>
void for_samples(int64_t samples, int64_t n, const F& f) {
  constexpr int64_t rows = int64_t{1} << 20;
  cpu::parallel(samples, std::clamp<int64_t>(rows / std::max<int64_t>(n, 1), 1, 64) * cpu::sample_lanes, f);
}

/// Sets the sampling weight of relevant rows, or of the rows of each level (rows with the same gain). Rows without gain
/// have weight 1.
void set_weights(const ListShape& shape, RankingSampler& sampler) {
  const Level nothing{0, 0, 0};
  sampler.weighted = shape.beta != 0;
  int64_t l = 0;
  for (const Level& level : levels_of(shape)) {
    if (level.gain > 0 && l < most_levels) sampler.weight[l++] = level.weight_against(nothing);
  }
}

/// Returns a sampler for metrics with graded gains. It draws the rows with gain, level by level (rows with the same
/// gain). If there are too many levels, the result is empty, and whole orders of rows are drawn instead.
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

/// Draws samples on the GPU and copies them to `values`. They have the same bits as those that `sampler` draws on the
/// CPU.
void fill_there(RankingSampler sampler, std::vector<double>& values, Device device) {
  const Tensor d = Tensor::from(std::vector<double>(sampler.d, sampler.d + sampler.n), device);
  const Tensor out = Tensor::empty({static_cast<int64_t>(values.size())}, Dtype::float64, device);
  sampler.d = d.span<double>().data;
  kernels<BoundKernels<double>>(device).sample_rankings(out.entries(), {sampler, out.span<double>()});
  out.copy_to_host(values.data());
}

/// Rounds the number of samples up to a multiple of the vector length.
size_t whole_lanes(int64_t samples) {
  constexpr auto lanes = static_cast<size_t>(cpu::sample_lanes);
  return (static_cast<size_t>(samples) + lanes - 1) / lanes * lanes;
}

/// Draws all samples with `sampler`: values[s] is the value of sample s.
void fill_samples(const RankingSampler& sampler, std::vector<double>& values, Device device) {
  if (device == Device::cuda) return fill_there(sampler, values, device);
  const auto samples = static_cast<int64_t>(values.size());
  values.resize(whole_lanes(samples));
  for_samples(static_cast<int64_t>(values.size()), sampler.n, [&](int64_t first, int64_t last) {
    cpu::sample_rankings(sampler, first, last - first, values.data() + first);
  });
  values.resize(static_cast<size_t>(samples));
}

/// Returns the sum over ranks of the row's gain times the discount of its rank.
double linear_sum(const std::vector<int64_t>& rows, const std::vector<double>& gains, const std::vector<double>& d) {
  double sum = 0;
  for (size_t r = 0; r < rows.size(); ++r) sum += gains[static_cast<size_t>(rows[r])] * d[r];
  return sum;
}

/// Returns the number of wrongly ordered pairs in a ranking. level[row] numbers the grade of a row, with 0 for the
/// highest grade. `placed` is temporary memory with one entry per grade.
double wrong_pairs(const std::vector<int64_t>& rows, const std::vector<size_t>& level, std::vector<double>& placed) {
  std::fill(placed.begin(), placed.end(), 0.0);
  double sum = 0;
  for (const int64_t row : rows) {
    const size_t own = level[static_cast<size_t>(row)];
    for (size_t l = own + 1; l < placed.size(); ++l) sum += placed[l];
    placed[own] += 1;
  }
  return sum;
}

/// Draws a whole random order of rows for each sample. This is for metrics of pairs, and for lists with too many
/// distinct gains for a sampler.
void fill_ordered(const ListShape& shape, const Increments& add, RandomKey key, std::vector<double>& values) {
  const std::vector<double> gains = gains_of(shape);
  const std::vector<int64_t> rows_of = rows_of_grades(shape);
  std::vector<size_t> level;
  for (size_t l = 0; l < rows_of.size(); ++l) level.insert(level.end(), static_cast<size_t>(rows_of[l]), l);
  std::vector<double> pulls;
  for (const float grade : shape.grades) pulls.push_back(shape.beta * grade);
  for_samples(static_cast<int64_t>(values.size()), shape.n, [&](int64_t first, int64_t last) {
    RandomOrder order(pulls, key);
    std::vector<double> placed(rows_of.size());
    for (int64_t s = first; s < last; ++s) {
      const std::vector<int64_t>& rows = order.next(static_cast<uint64_t>(s));
      values[s] = add.kind == Increment::pairs ? wrong_pairs(rows, level, placed) : linear_sum(rows, gains, add.d);
    }
  });
}

/// Returns true if mean and standard deviation of a distribution, which a file stores, match its values.
bool has_own_moments(const Distribution& d) {
  double mean = 0, square = 0;
  for (size_t i = 0; i < d.values().size(); ++i) mean += d.probability(i) * d.values()[i];
  for (size_t i = 0; i < d.values().size(); ++i)
    square += d.probability(i) * (d.values()[i] - mean) * (d.values()[i] - mean);
  const double size = 1e-9 * (std::fabs(mean) + (d.max() - d.min()) + 1e-300);
  return std::fabs(d.mean() - mean) <= size && std::fabs(d.sd() - std::sqrt(square)) <= size;
}

/// Appends the bytes of numbers to a text from which a cache key is computed.
template <class T>
void add_bits(std::string& text, const T* numbers, size_t count) {
  text.append(reinterpret_cast<const char*>(numbers), count * sizeof(T));
}

}  // namespace

MetricSampling::MetricSampling(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed)
    : shape_(shape), samples_(samples), random_(key_of(shape, seed)) {
  if (samples < 1 || samples > 100'000'000)
    throw ArgumentError("samples", std::to_string(samples) + ", expected 1 to 100000000");
  increments_ = increments_of(metric, shape);
}

RankingSampler MetricSampling::sampler() const {
  if (increments_.kind == Increment::pairs) return {};
  RankingSampler out =
      increments_.kind == Increment::graded
          ? level_sampler(shape_, increments_.d, random_)
          : RankingSampler{
                .n = shape_.n, .p = shape_.p, .increment = increments_.kind, .d = increments_.d.data(), .key = random_};
  set_weights(shape_, out);
  return out;
}

std::string MetricSampling::rankings_key() const {
  std::string text = version;
  text += ", numerics " + numerics() + " " + std::to_string(shape_.n) + " " + std::to_string(shape_.p) + " " +
          std::to_string(samples_) + " " + std::to_string(random_.value) + " ";
  add_bits(text, &shape_.beta, 1);
  add_bits(text, shape_.grades.data(), shape_.grades.size());
  return io::sha256(text);
}

std::string MetricSampling::key() const {
  // The key of samples contains the values of discounts, gains and weights, not the metric's name. So if code that
  // computes these values changes, the key changes too.
  std::string text = rankings_key() + " " + std::to_string(static_cast<int>(increments_.kind)) + " ";
  const std::vector<double> gains = gains_of(shape_);
  add_bits(text, increments_.d.data(), increments_.d.size());
  add_bits(text, gains.data(), gains.size());
  add_bits(text, sampler().weight, most_levels);
  add_bits(text, &increments_.scale, 1);
  add_bits(text, &increments_.shift, 1);
  return io::sha256(text);
}

bool MetricSampling::goes_with(const MetricSampling& other) const {
  const auto plain = [](Increment kind) { return kind != Increment::graded && kind != Increment::pairs; };
  return plain(increments_.kind) && plain(other.increments_.kind) && shape_.beta == 0 &&
         rankings_key() == other.rankings_key();
}

void MetricSampling::scale(std::vector<double>& values) const {
  for (double& value : values) value = increments_.scale * value - increments_.shift;
}

std::vector<double> MetricSampling::draw(Device device) const {
  std::vector<double> values(static_cast<size_t>(samples_));
  if (const RankingSampler of = sampler(); of.n > 0) {
    fill_samples(of, values, device);
  } else {
    fill_ordered(shape_, increments_, random_, values);
  }
  scale(values);
  return values;
}

bool MetricSampling::drew(const Distribution& found) const {
  // Largest accepted distance between the file's distribution function and that of 512 samples that are drawn again. It
  // is exceeded with probability 1e-8 if the file is right.
  constexpr double farthest = 0.15;
  MetricSampling few = *this;
  few.samples_ = std::min<int64_t>(samples_, 512);
  if (found.counted().total != samples_ || !has_own_moments(found)) return false;
  std::vector<double> drawn = few.draw(Device::cpu);
  std::sort(drawn.begin(), drawn.end());
  const std::vector<double>& values = found.values();
  const auto count = static_cast<double>(drawn.size());
  for (size_t i = 0; i < drawn.size(); ++i) {
    // `near` is the tolerance of a comparison, because nearly equal values were merged.
    const double x = drawn[i], near = 2e-12 * std::max(1.0, std::fabs(x));
    const auto at = std::lower_bound(values.begin(), values.end(), x - near);
    if (at == values.end() || *at > x + near) return false;
    if (drawn.size() < 512) continue;
    const double below = static_cast<double>(i) / count;
    if (found.cdf(x + near) < below - farthest || found.cdf(x - near) > below + 1 / count + farthest) return false;
  }
  return true;
}

std::vector<std::vector<double>> MetricSampling::draw_together(const std::vector<MetricSampling>& samplings) {
  const int64_t samples = samplings[0].samples_;
  std::vector<std::vector<double>> values(samplings.size(), std::vector<double>(whole_lanes(samples)));
  std::vector<RankingSampler> samplers;
  std::vector<double*> out;
  for (const MetricSampling& each : samplings) samplers.push_back(each.sampler());
  for (std::vector<double>& of : values) out.push_back(of.data());
  const auto metrics = static_cast<int64_t>(samplings.size());
  for_samples(static_cast<int64_t>(values[0].size()), samplings[0].shape_.n, [&](int64_t first, int64_t last) {
    for (int64_t m = 0; m < metrics; m += cpu::most_several) {
      const int64_t some = std::min(cpu::most_several, metrics - m);
      cpu::sample_several(&samplers[static_cast<size_t>(m)], some, first, last - first, &out[static_cast<size_t>(m)]);
    }
  });
  for (size_t m = 0; m < values.size(); ++m) {
    values[m].resize(static_cast<size_t>(samples));
    samplings[m].scale(values[m]);
  }
  return values;
}

std::vector<double> sample_metric(const Metric& metric, const ListShape& shape, int64_t samples, int64_t seed,
                                  Device device) {
  return MetricSampling(metric, shape, samples, seed).draw(device);
}

}  // namespace mr
