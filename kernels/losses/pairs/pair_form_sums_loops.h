// The loops of pair_form_sums.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by
// pair_form_sums_*.cpp only.
#include "kernels/core/simd/lane_sums.h"
#include "kernels/core/simd/logistic_lanes.h"
#include "kernels/losses/pairs/pair_form_sums.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// softplus, sigmoid and tanh of SIMD vectors, for the costs in pair_forms.h. PlainMath has them for single numbers.
struct LaneMath {
  using Number = Lanes<double>::Vector;
  using Weight = Number;
  static Number number(double x) { return Lanes<double>::all(x); }
  static Softplus softplus(Number t) { return Softplus(t); }
  static Sigmoid sigmoid(Number t, Weight weight) { return Sigmoid(t, weight); }
  static Tanh tanh(Number t) { return Tanh(t); }
};

/// True if all weights, which are not negative, are 0.
inline bool all_zero(const double* w, int64_t n) {
  uint64_t bits = 0, each;
  for (int64_t j = 0; j < n; ++j) {
    std::memcpy(&each, w + j, sizeof each);
    bits |= each;
  }
  return bits == 0;
}

template <bool curved, class Form>
PairFormSums sum_of_pairs(const Form& form, const double* s, const double* w, int64_t n, double s_i, double steepness,
                          double* slopes, double* curvatures) {
  using L = Lanes<double>;
  // Computes two vectors of pairs at a time: each is a long chain of dependent operations, and the two chains overlap.
  constexpr int64_t step = 2 * L::width;
  L::Vector total[L::parts] = {}, total_slope[L::parts] = {}, total_curvature[L::parts] = {};
  for (int64_t j = 0; j < n; j += step) {
    if (all_zero(w + j, step)) continue;
    for (int64_t k = j; k < j + step; k += L::count) {
      const auto source = L::load(s + k), weight = L::load(w + k), t = steepness * (source - s_i);
      // t, steepness times score difference, is set to 0 if the two scores are equal or the weight is 0. With infinite
      // scores it would be NaN.
      const L::Vector at = source == s_i || weight == 0 ? L::Vector{} : t;
      const auto of = form(LaneMath{}, at, weight);
      const int64_t part = (k - j) / L::count % L::parts;
      total[part] += of.value;
      total_slope[part] += of.slope;
      L::store(slopes + k, L::load(slopes + k) + of.slope);
      if constexpr (curved) {
        const auto curvature = weight * form.curvature(LaneMath{}, at);
        total_curvature[part] += curvature;
        L::store(curvatures + k, L::load(curvatures + k) + curvature);
      }
    }
  }
  return {sum_of(total), sum_of(total_slope), sum_of(total_curvature)};
}

template <class Form>
PairFormSums pair_form_sum(const Form& form, const double* s, const double* w, int64_t n, double s_i, double steepness,
                           double* slopes, double* curvatures) {
  if constexpr (requires { form.curvature(LaneMath{}, LaneMath::Number{}); }) {
    if (curvatures != nullptr) return sum_of_pairs<true>(form, s, w, n, s_i, steepness, slopes, curvatures);
  }
  return sum_of_pairs<false>(form, s, w, n, s_i, steepness, slopes, nullptr);
}

inline PairFormSums curved_ranknet(const ExponentialPairs& pairs, int64_t n, double s_i, double e_i, double steepness,
                                   double* slopes, double* curvatures) {
  using L = Lanes<double>;
  const double inverse_i = 1 / e_i;
  L::Vector total[L::parts] = {}, total_slope[L::parts] = {}, total_curvature[L::parts] = {};
  // the second half of the last `pair_padding` pairs may be padding
  if (n > 0 && all_zero(pairs.weights + n - L::width, L::width)) n -= L::width;
  for (int64_t j = 0; j < n; j += L::width) {
    for (int64_t k = j; k < j + L::width; k += L::count) {
      const auto weight = L::load(pairs.weights + k), t = steepness * (L::load(pairs.scores + k) - s_i);
      // e^t and e^-t, of which the smaller one is e^-|t|
      const auto up = inverse_i * L::load(pairs.exponentials + k), down = e_i * L::load(pairs.inverses + k),
                 y = up < down ? up : down;
      const Softplus of(t, y);
      const auto slope = weight * of.slope, curvature = weight * y * of.sigma_of_size * of.sigma_of_size;
      const int64_t part = (k - j) / L::count % L::parts;
      total[part] = multiply_add(weight, of.value, total[part]);
      total_slope[part] += slope;
      total_curvature[part] += curvature;
      L::store(slopes + k, L::load(slopes + k) + slope);
      L::store(curvatures + k, L::load(curvatures + k) + curvature);
    }
  }
  return {sum_of(total), sum_of(total_slope), sum_of(total_curvature)};
}

inline void exponentials_of(double* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) x[i] = portable::exp(x[i]);
}

inline double sum_swap_weights(const SwapRow& row, const double* levels, const double* shares, int64_t n, double own,
                               double* weights) {
  using L = Lanes<double>;
  L::Vector most = {};
  for (int64_t j = 0; j < n; j += L::count) {
    const auto above = row.level - L::load(levels + j), apart = row.share - L::load(shares + j);
    const auto change = above * (apart < 0 ? -apart : apart);
    const auto weight = above > 0 ? own * change : L::Vector{};
    L::store(weights + j, weight);
    most = weight > most ? weight : most;
  }
  double largest = 0;
  for (int64_t k = 0; k < L::count; ++k) largest = most[k] > largest ? most[k] : largest;
  return largest;
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
PairFormLoops loops_of<PairFormLoops, Simd::MR_SIMD>() {
#define MR_PAIR_FORM_SUM(name, Form, ...) .name = &MR_SIMD::pair_form_sum<Form>,
  return {MR_PAIR_FORMS(MR_PAIR_FORM_SUM, MR_PAIR_FORM_SUM).curved_ranknet = &MR_SIMD::curved_ranknet,
          .exponentials = &MR_SIMD::exponentials_of, .sum_swap_weights = &MR_SIMD::sum_swap_weights};
#undef MR_PAIR_FORM_SUM
}

}  // namespace mr::cpu
