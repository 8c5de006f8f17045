// The loops of pairwise losses over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by pairs_loops.h and
// ../losses/row_sums_loops.h only.
#include "kernels/core/exponential_lanes.h"
#include "kernels/core/lane_sums.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// w log(1 + e^t) and w sigma(t), for any t except NaN.
struct Logistic {
  Lanes<double>::Vector value, slope;
  Logistic(Lanes<double>::Vector t, Lanes<double>::Vector w) {
    using V = Lanes<double>::Vector;
    constexpr double odd_reciprocals[16] = {1.,      1. / 3,  1. / 5,  1. / 7,  1. / 9,  1. / 11, 1. / 13, 1. / 15,
                                            1. / 17, 1. / 19, 1. / 21, 1. / 23, 1. / 25, 1. / 27, 1. / 29};
    constexpr double beyond = 350;  // adding e^-350 does not change 1; also the end of the range of `exponential`
    const V far = t < 0 ? -t : t, y = far > beyond ? V{} : exponential(far > beyond ? V{} : -far);
    // log(1 + y) = 2 (z + z^3/3 + z^5/5 + ...) with z = y / (2 + y), at most 1/3; accurate to rounding for small y, too
    const V one = 1 + y, two = 2 + y, both = 1 / (one * two), z = y * (one * both);
    value = w * multiply_add(z + z, polynomial(odd_reciprocals, z * z), t > 0 ? t : V{});
    slope = w * ((t < 0 ? y : Lanes<double>::all(1)) * (two * both));
  }
};

/// w sigma(t) and its derivative by t.
struct Sigmoid {
  Lanes<double>::Vector value, slope;
  Sigmoid(Lanes<double>::Vector t, Lanes<double>::Vector w) {
    using V = Lanes<double>::Vector;
    constexpr double beyond = 350;
    const V far = t < 0 ? -t : t, y = far > beyond ? V{} : exponential(far > beyond ? V{} : -far);
    const V more = w / (1 + y), less = more * y;  // the values for |t| and for -|t|
    value = t < 0 ? less : more;
    slope = less / (1 + y);
  }
};

inline void sigmoids(const double* t, int64_t n, double* values, double* slopes) {
  using L = Lanes<double>;
  for (int64_t j = 0; j < n; j += L::count) {
    const Sigmoid of(L::load(t + j), L::all(1));
    L::store(values + j, of.value);
    L::store(slopes + j, of.slope);
  }
}

/// True if all weights, which are nonnegative, are 0.
inline bool all_zero(const double* w, int64_t n) {
  uint64_t bits = 0, each;
  for (int64_t j = 0; j < n; ++j) {
    std::memcpy(&each, w + j, sizeof each);
    bits |= each;
  }
  return bits == 0;
}

/// w log(1 + e^tanh(t)) and its derivative by t.
struct TanhLogistic {
  Lanes<double>::Vector value, slope;
  TanhLogistic(Lanes<double>::Vector t, Lanes<double>::Vector w) {
    using V = Lanes<double>::Vector;
    constexpr double beyond = 40;  // beyond this, tanh rounds to 1 and its derivative counts as 0
    const V far = t < 0 ? -t : t, y = far > beyond ? V{} : exponential(far > beyond ? V{} : -2 * far);
    const V size = (1 - y) / (1 + y);
    const Logistic of(t < 0 ? -size : size, w);
    value = of.value;
    slope = of.slope * (4 * y / ((1 + y) * (1 + y)));
  }
};

/// w max(0, margin + t) and its derivative.
struct Hinge {
  Lanes<double>::Vector value, slope;
  Hinge(Lanes<double>::Vector t, Lanes<double>::Vector w, double margin) {
    using V = Lanes<double>::Vector;
    const V by = margin + t;
    // an infinite t with weight 0 contributes 0
    value = by > 0 ? w * by : V{};
    slope = by > 0 ? w : V{};
  }
};

/// Implements PairLoops::logistic; term(t, w) gives a pair's value and derivative.
template <class Term>
double pair_terms(const double* s, const double* w, int64_t n, double s_i, double gain, double* slopes, double* value,
                  Term term) {
  using L = Lanes<double>;
  constexpr int64_t step = 2 * L::width;  // two independent vectors hide the latency of each other
  L::Vector total[L::parts] = {}, total_slope[L::parts] = {};
  for (int64_t j = 0; j < n; j += step) {
    if (all_zero(w + j, step)) continue;
    for (int64_t k = j; k < j + step; k += L::count) {
      const auto source = L::load(s + k), weight = L::load(w + k), t = gain * (source - s_i);
      // infinite scores may be equal, or have weight 0
      const auto of = term(source == s_i || weight == 0 ? L::Vector{} : t, weight);
      const int64_t part = (k - j) / L::count % L::parts;
      total[part] += of.value;
      total_slope[part] += of.slope;
      L::store(slopes + k, L::load(slopes + k) + of.slope);
    }
  }
  *value += sum_of(total);
  return sum_of(total_slope);
}

inline double logistic(const double* s, const double* w, int64_t n, double s_i, double gain, double* slopes,
                       double* value) {
  return pair_terms(s, w, n, s_i, gain, slopes, value, [](auto t, auto weight) { return Logistic(t, weight); });
}
inline double sigmoid(const double* s, const double* w, int64_t n, double s_i, double gain, double* slopes,
                      double* value) {
  return pair_terms(s, w, n, s_i, gain, slopes, value, [](auto t, auto weight) { return Sigmoid(t, weight); });
}
inline double tanh_logistic(const double* s, const double* w, int64_t n, double s_i, double gain, double* slopes,
                            double* value) {
  return pair_terms(s, w, n, s_i, gain, slopes, value, [](auto t, auto weight) { return TanhLogistic(t, weight); });
}
inline double hinge(const double* s, const double* w, int64_t n, double s_i, double gain, double margin, double* slopes,
                    double* value) {
  return pair_terms(s, w, n, s_i, gain, slopes, value, [=](auto t, auto weight) { return Hinge(t, weight, margin); });
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD
