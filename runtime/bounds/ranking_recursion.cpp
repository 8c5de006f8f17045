#include "runtime/bounds/ranking_recursion.h"

#include <algorithm>

#include "kernels/bounds/rows.h"
#include "kernels/core/angles.h"
#include "kernels/core/logarithms.h"
#include "kernels/core/threads.h"
#include "runtime/bounds/relevant_counts.h"
#include "runtime/tensor/device_array.h"

namespace mr {
namespace {

constexpr int64_t at_once = cpu::frequency_lanes;

/// Computes for every rank r the smallest and the largest number of relevant rows at the first r ranks whose
/// probability is not negligible.
void likely_counts(int64_t n, int64_t p, double weight, std::vector<int32_t>& low, std::vector<int32_t>& high) {
  RelevantCounts counts(n, p, weight);
  for (int64_t r = 0; r < n; ++r) {
    // Checks for Ctrl-C every 256 ranks: one rank may loop over 10,000 counts of relevant rows.
    if (r % 256 == 0) cpu::check_interrupt();
    counts.next();
    low.push_back(static_cast<int32_t>(counts.least()));
    high.push_back(static_cast<int32_t>(counts.most()));
  }
}

}  // namespace

Increase increase_of(const ListShape& shape, Increment kind) {
  const std::vector<Level> levels = levels_of(shape);
  const bool counted = kind == Increment::average_precision;
  const auto base = counted ? levels.end() - 1
                            : std::max_element(levels.begin(), levels.end(),
                                               [](const Level& a, const Level& b) { return a.rows < b.rows; });
  Increase out;
  out.base = base->gain;
  for (const Level& level : levels) {
    if (&level == &*base) continue;
    out.gain.push_back(level.gain - base->gain);
    out.weight.push_back(level.weight_against(*base));
    out.rows.push_back(level.rows);
    out.states *= static_cast<double>(level.rows + 1);
  }
  return out;
}

RankingRecursion::RankingRecursion(const Increments& add, const ListShape& shape, Device device) : device_(device) {
  const bool cumulative = add.kind == Increment::average_precision;
  const Increase increase = increase_of(shape, add.kind);
  for (const double d : add.d) {
    always_ += add.scale * increase.base * d;
    for (const double gain : increase.gain) angle_.push_back(add.scale * gain * d);
  }
  rows_ = increase.rows;
  weights_ = increase.weight;
  transform_.n = shape.n;
  transform_.levels = static_cast<int64_t>(rows_.size());
  transform_.rows_of = rows_.data();
  transform_.weights = shape.beta == 0 ? nullptr : weights_.data();
  transform_.cumulative = cumulative;
  if (one_level()) likely_counts(shape.n, rows_[0], weights_[0], low_, high_);
  transform_.low = low_.data();
  transform_.high = high_.data();
  start_.resize(2 * angle_.size());
  powers_.resize(2 * at_once * angle_.size());
  set_step(0);
  transform_.start = start_.data();
  transform_.powers = powers_.data();
  scratch_.resize(static_cast<size_t>(cpu::characteristic_scratch(transform_)));
}

void RankingRecursion::set_step(double step) {
  step_ = step;
  taken_ = 0;
  ready_.clear();
  for (size_t at = 0; at < angle_.size(); ++at) {
    start_[2 * at] = 1;
    start_[2 * at + 1] = 0;
    for (int64_t j = 0; j < at_once; ++j) {
      const double t = step * angle_[at] * static_cast<double>(j + 1);
      powers_[2 * at_once * at + j] = portable::cos(t);
      powers_[2 * at_once * at + at_once + j] = portable::sin(t);
    }
  }
}

void RankingRecursion::log_moments(double mean, const double* tilt, double* out) {
  const auto p = static_cast<double>(rows_[0]);
  const double per_angle = mean / (transform_.cumulative ? p * (p + 1) / 2 : p);
  std::vector<double> powers(powers_.size(), 0.0);
  for (int64_t r = 0; r < transform_.n; ++r) {
    for (int64_t j = 0; j < at_once; ++j)
      powers[2 * at_once * r + j] = portable::exp(tilt[j] * (angle_[r] - per_angle));
  }
  cpu::RankingTransform tilted = transform_;
  tilted.powers = powers.data();
  double none[at_once];
  cpu::characteristic(tilted, scratch_.data(), out, none);
  for (int64_t j = 0; j < at_once; ++j) out[j] = portable::log(out[j]);
}

void RankingRecursion::next(double* re, double* im) {
  if (runs_on_device()) {
    const int64_t at = taken_ % block;
    if (at == 0 && ready_.empty()) launch({this});
    std::copy_n(ready_.begin() + at, at_once, re);
    std::copy_n(ready_.begin() + block + at, at_once, im);
    if (at + at_once == block) ready_.clear();
  } else {
    cpu::characteristic(transform_, scratch_.data(), re, im);
    for (size_t at = 0; at < start_.size() / 2; ++at) turn(at);
  }
  taken_ += at_once;
}

/// Updates the complex exponential of one rank and one level (all rows with the same gain) by a multiplication, so that
/// it belongs to the frequencies of the next call of `next`.
void RankingRecursion::turn(size_t at) {
  double& re = start_[2 * at];
  double& im = start_[2 * at + 1];
  const double c = powers_[2 * at_once * at + at_once - 1], s = powers_[2 * at_once * at + 2 * at_once - 1];
  const double was = re;
  re = was * c - im * s;
  im = was * s + im * c;
}

void RankingRecursion::launch(const std::vector<RankingRecursion*>& all) {
  const auto count = static_cast<int64_t>(all.size());
  const Device device = Device::cuda;
  struct There {
    DeviceArray<int32_t> low, high;
    DeviceArray<double> angle, state;
  };
  std::vector<There> held;  // owns the arrays on the GPU, which must exist until the launch is queued
  const Tensor out = Tensor::empty({count, 2, block}, Dtype::float64, device);
  std::vector<CharacteristicFunction<double>> shapes;
  for (const RankingRecursion* r : all) {
    std::vector<double> angle = r->angle_;
    for (double& x : angle) x *= r->step_;
    const DeviceArray<double> state((r->rows_[0] + 2) * 2 * block, device);
    const There& there = held.emplace_back(There{{r->low_, device}, {r->high_, device}, {angle, device}, state});
    double* const parts = out.span<double>().data + 2 * block * static_cast<int64_t>(shapes.size());
    shapes.push_back({.n = r->transform_.n,
                      .p = r->rows_[0],
                      .weight = r->weights_[0],
                      .cumulative = r->transform_.cumulative,
                      .low = there.low.span(),
                      .high = there.high.span(),
                      .angle = there.angle.span(),
                      .first = r->taken_ + 1,
                      .frequencies = block,
                      .state = there.state.span(),
                      .re = {parts, block},
                      .im = {parts + block, block}});
  }
  const DeviceArray<CharacteristicFunction<double>> shapes_there(shapes, device);
  kernels<BoundKernels<double>>(device).characteristic(count * block,
                                                       {.shapes = shapes_there.span(), .frequencies = block});
  const auto values = out.to_vector<double>();
  for (size_t i = 0; i < all.size(); ++i) {
    const auto first = values.begin() + 2 * block * static_cast<int64_t>(i);
    all[i]->ready_.assign(first, first + 2 * block);
  }
}

}  // namespace mr
