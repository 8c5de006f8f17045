#include "runtime/models/step_log.h"

#include <algorithm>
#include <cmath>

#include "kernels/core/powers.h"

namespace mr {

StepLog::Powers::Powers(double base) {
  for (int32_t k = 0; k < low; ++k) units[static_cast<size_t>(k)] = portable::pow(base, k);
  for (size_t k = 0; k < lows.size(); ++k) lows[k] = portable::pow(base, low * static_cast<double>(k));
}

double StepLog::ratio_of(const GlideMethod& method) {
  return method.adam() ? method.beta1 / std::sqrt(method.beta2) : method.beta1;
}

/// Returns the number of steps without a gradient after which a row's further updates are negligible: their factor is
/// below 1e-14 of the first one.
int32_t StepLog::rest_of(const GlideMethod& method) {
  constexpr double nothing = 1e-14;
  if (!method.has_mean()) return 0;
  const double ratio = ratio_of(method);
  if (!(ratio < 1)) return kept;
  if (ratio <= nothing) return 1;
  return static_cast<int32_t>(std::min<double>(kept, std::ceil(portable::log(nothing) / portable::log(ratio))));
}

/// Returns true if the steps that a row missed are computed as a product of linear maps, instead of as a sum of
/// updates.
bool StepLog::is_linear(const GlideMethod& method) {
  return !method.adam() && (method.moves_all() || rest_of(method) > most_rest);
}

bool StepLog::possible(const GlideMethod& method, Dtype dtype) {
  // A lower limit of epsilon. It keeps quotients by `Glide::reach` finite, which may be far below epsilon.
  const double least = dtype == Dtype::float32 ? 1e-30 : 1e-280;
  if (method.has_square() && !(method.epsilon >= least)) return false;
  if (!method.adam()) return method.kind == StepKind::sgd || method.decay == 0;
  return method.beta1 < method.beta2 * method.beta2 * method.beta2 && rest_of(method) <= most_rest;
}

StepLog::StepLog(const GlideMethod& method, int32_t now)
    : method_(method),
      now_(now),
      first_(now),
      rest_(rest_of(method)),
      linear_(is_linear(method)),
      products_(now, linear_ || method.moves_all()),
      mean_powers_(method.beta1),
      square_powers_(method.beta2),
      steps_(static_cast<size_t>(kept)) {
  const double ratio = ratio_of(method);
  for (int32_t j = 0; j <= rest_ && !linear_; ++j) {
    ratio_powers_.push_back(portable::pow(ratio, j));
    place_powers_.push_back(method.adam() ? portable::pow(method.beta2, -0.5 * j) : 1);
  }
  begin_sums();
}

void StepLog::begin_sums() {
  Step& step = at(now_);
  step.sums = GlideSums();
  if (!method_.adam()) return;
  const double mean_steps = std::min<double>(rest_, std::round(1 / (1 - ratio_of(method_))));
  step.sums.centre = std::sqrt(portable::pow(method_.beta2, -mean_steps) - portable::pow(method_.beta2, now_));
}

void StepLog::append(double lr) {
  ++now_;
  Step& step = at(now_);
  step.lr = lr;
  if (linear_ || method_.moves_all()) products_.append(linear_step(lr));
  if (linear_) return;
  const double left1 = 1 - portable::pow(method_.beta1, now_), left2 = 1 - portable::pow(method_.beta2, now_);
  step.factor = method_.adam() ? lr * std::sqrt(left2) / left1 : lr;
  step.root = method_.adam() ? std::sqrt(left2) : 1;
  const int32_t back = std::min(rest_, now_ - first_);
  for (int32_t j = 1; j <= back; ++j) {
    GlideSums& sums = at(now_ - j).sums;
    if (method_.moves_all()) sums.scale(1 - lr * method_.decay);
    sums.add(weight(now_ - j, j), place(now_ - j, j));
  }
  begin_sums();
}

LinearStep StepLog::linear_step(double lr) const {
  const double kept = 1 - lr * method_.decay;
  if (!linear_) return {kept, 0, 0, 1};
  return {kept, -lr * method_.beta1, method_.decay, method_.beta1};
}

std::vector<double> StepLog::rates() const {
  std::vector<double> rates;
  for (int32_t step = now_ - std::min(now_ - first_, kept - 1) + 1; step <= now_; ++step) rates.push_back(at(step).lr);
  return rates;
}

}  // namespace mr
