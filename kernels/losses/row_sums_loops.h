// The loops of row_sums.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by row_sums_*.cpp only.
#include "kernels/core/logarithms.h"
#include "kernels/core/simd/lane_sums.h"
#include "kernels/core/simd/logistic_lanes.h"
#include "kernels/losses/row_sums.h"

namespace mr::cpu::MR_SIMD {
namespace {

inline double row_exponentials(const double* x, double top, int64_t n, double* powers) {
  using L = Lanes<double>;
  constexpr double beyond = -350;  // `exponential` takes no arguments below -350, and e^-350 adds nothing to the sum
  Parts<double> total = {};
  for (int64_t i = 0; i < n; i += L::count) {
    // equal scores differ by 0, even if both are infinite
    const L::Vector at = L::load(x + i), t = at == top ? L::Vector{} : at - top;
    const L::Vector power = t < beyond ? L::Vector{} : exponential(t < beyond ? L::Vector{} : t);
    total[i / L::count % L::parts] += power;
    L::store(powers + i, power);
  }
  return sum_of(total);
}

inline double row_logistic(const double* t, int64_t n, double* slopes) {
  using L = Lanes<double>;
  Parts<double> total = {};
  for (int64_t i = 0; i < n; i += L::count) {
    const Softplus of(L::load(t + i));
    total[i / L::count % L::parts] += of.value;
    L::store(slopes + i, of.slope);
  }
  return sum_of(total);
}

inline void row_softplus(const double* __restrict t, int64_t n, double* __restrict values, double* __restrict slopes) {
  for (int64_t i = 0; i < n; ++i) {
    const double e = portable::exp(t[i] < 0 ? t[i] : -t[i]), above = 1 / (1 + e), below = e / (1 + e);
    slopes[i] = t[i] >= 0 ? above : below;
    values[i] = (t[i] > 0 ? t[i] : 0) + portable::log1p(e);
  }
}

inline double row_sum(const double* x, int64_t n) {
  using L = Lanes<double>;
  // integers up to `most` have the same sum in any order; adding `round` rounds to an integer
  constexpr double round = 0x1.8p52, most = 0x1p30;
  Parts<double> total = {};
  typename L::Vector beyond = {};
  for (int64_t i = 0; i < n; i += L::count) {
    const auto at = L::load(x + i), size = at < 0 ? -at : at;
    beyond = (at + round) - round == at && size <= most ? beyond : L::all(1);
    total[i / L::count % L::parts] += at;
  }
  for (int64_t i = 1; i < L::count; ++i) beyond[0] += beyond[i];
  if (beyond[0] == 0) return sum_of(total);
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += x[i];
  return sum;
}

inline double row_largest(const double* x, int64_t n) {
  using L = Lanes<double>;
  typename L::Vector most = L::all(-__builtin_huge_val());
  for (int64_t i = 0; i < n; i += L::count) {
    const auto at = L::load(x + i);
    most = at > most ? at : most;
  }
  double largest = most[0];
  for (int64_t i = 1; i < L::count; ++i) largest = most[i] > largest ? most[i] : largest;
  return largest;
}

inline double row_cross_entropy(const double* x, const double* targets, double top, double log_total, int64_t n,
                                double* terms) {
  for (int64_t i = 0; i < n; ++i) {
    const double below = x[i] == top ? 0 : x[i] - top;  // equal scores differ by 0, even if both are infinite
    terms[i] = targets[i] > 0 ? targets[i] * (log_total - below) : 0;
  }
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += terms[i];
  return sum;
}

inline void row_cross_entropy_slopes(const double* powers, const double* targets, double mass, double total, int64_t n,
                                     double* slopes) {
  for (int64_t i = 0; i < n; ++i) slopes[i] = mass * powers[i] / total - targets[i];
}

inline void row_divide(double* x, double total, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] /= total;
}

inline void row_above(const double* x, double f, int64_t n, double* values, double* slopes) {
  for (int64_t i = 0; i < n; ++i) {
    const double t = x[i] == f ? 0 : x[i] - f, e = portable::exp(t < 0 ? t : -t);
    values[i] = t >= 0 ? 1 / (1 + e) : e / (1 + e);
    slopes[i] = e / ((1 + e) * (1 + e));
  }
}

inline void row_climf(const double* f, double g, int64_t n, double* sums, double* slopes) {
  for (int64_t i = 0; i < n; ++i) {
    const double t = g == f[i] ? 0 : g - f[i], e = portable::exp(t < 0 ? t : -t);
    const double more = 1 / (1 + e), less = e / (1 + e);  // more = sigma(|t|), less = sigma(-|t|)
    sums[i] += (t > 0 ? t : 0) + portable::log1p(e);
    slopes[i] += t >= 0 ? less - more : more - less;
  }
}

inline void row_tfmap(const double* f, const double* sigma, const double* curve, double g, double sigma_g, int64_t n,
                      double* sums, double* slopes) {
  for (int64_t i = 0; i < n; ++i) {
    const double t = g == f[i] ? 0 : g - f[i], e = portable::exp(t < 0 ? t : -t);
    const double above = t >= 0 ? 1 / (1 + e) : e / (1 + e), steep = e / ((1 + e) * (1 + e));
    sums[i] -= sigma[i] * above;
    slopes[i] += curve[i] * above + sigma[i] * steep - sigma_g * steep;
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
RowLoops loops_of<RowLoops, Simd::MR_SIMD>() {
  return {.exponentials = &MR_SIMD::row_exponentials,
          .logistic = &MR_SIMD::row_logistic,
          .softplus = &MR_SIMD::row_softplus,
          .sum = &MR_SIMD::row_sum,
          .largest = &MR_SIMD::row_largest,
          .cross_entropy = &MR_SIMD::row_cross_entropy,
          .cross_entropy_slopes = &MR_SIMD::row_cross_entropy_slopes,
          .divide = &MR_SIMD::row_divide,
          .above = &MR_SIMD::row_above,
          .climf = &MR_SIMD::row_climf,
          .tfmap = &MR_SIMD::row_tfmap};
}

}  // namespace mr::cpu
