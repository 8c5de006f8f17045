// The loops of pairs.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by pairs_*.cpp only.
// A division takes as long as all other operations together, so two sources share one division: with u = t + a + b,
// (t + a)(t + b) = t u + a b, and a/(t+a) + b/(t+b) = (t (a + b) + 2 a b) / (t u + a b).
#include "kernels/core/simd/exponential_lanes.h"
#include "kernels/core/simd/lane_sums.h"
#include "kernels/core/simd/logistic_lanes.h"
#include "kernels/ranking/discount.h"
#include "kernels/smooth/exponential_pairs.h"

namespace mr::cpu::MR_SIMD {
namespace {

// number of source rows that are added in float before the sum is added to a double, so that long sums stay accurate
constexpr int64_t block = 2048;
// number of target rows whose terms are added up in float, before they are added to each source row's total in double
constexpr int64_t target_block = 128;
// number of target rows that are computed at once, so that source rows are loaded once for all of them
constexpr int tile = 4;

/// A number of target rows that is known at compile time, so that loops over target rows are unrolled.
template <int n>
struct Count {
  constexpr operator int() const { return n; }
};

/// Loads two vectors of source rows, from positions j and j + Lanes::width. The second is 0 if the n sources end before
/// it.
template <class Real>
struct TwoSources {
  typename Lanes<Real>::Vector a, b;
  TwoSources(const Real* from, int64_t j, int64_t n) : a(Lanes<Real>::load(from + j)), b{} {
    if (j + Lanes<Real>::width < n) b = Lanes<Real>::load(from + j + Lanes<Real>::width);
  }
};

/// Sums for several target rows. Each target row has one or several vectors of its own, whose lanes hold partial sums
/// over source rows.
template <class Real, int targets>
struct LaneSums {
  using L = Lanes<Real>;
  typename L::Vector of[targets][L::parts];

  /// Calls add(j, totals) for positions j of n source rows, a vector at a time; `step` is the distance between
  /// positions. Every lane has its own total.
  template <class F>
  LaneSums(int64_t n, int64_t step, F add) {
    for (int64_t p = 0; p < L::parts; ++p) {
      typename L::Vector total[targets] = {};
      for (int64_t j = p * L::count; j < n; j += step) add(j, total);
      for (int a = 0; a < targets; ++a) of[a][p] = total[a];
    }
  }
  void add_to(double* sums) const {
    for (int a = 0; a < targets; ++a) sums[a] += sum_of(of[a]);
  }
};

/// Calls one(i, count) for target rows i = first .. last - 1. Most calls take `tile` target rows, and the last ones
/// take one. `count` is a compile-time constant.
template <class F>
void for_tiles(int64_t first, int64_t last, F one) {
  for (; first + tile <= last; first += tile) one(first, Count<tile>());
  for (; first < last; ++first) one(first, Count<1>());
}

/// Calls block_sum(first source, length, first target, tile, sums) for every block of source rows and every tile of
/// target rows. block_sum adds its sums to `sums`.
template <class F>
void sum_over_blocks(int64_t n, int64_t m, double* sums, F block_sum) {
  fill(sums, m, 0.0);
  for (int64_t from = 0; from < n; from += block) {
    const int64_t length = smaller(block, n - from);
    for_tiles(0, m, [&](int64_t i, auto targets) { block_sum(from, length, i, targets, sums + i); });
  }
}

template <class Real>
void rank_sums(const Real* e, int64_t n, const Real* t, int64_t m, double* sums) {
  using L = Lanes<Real>;
  sum_over_blocks(n, m, sums, [&](int64_t from, int64_t length, int64_t i, auto targets, double* to) {
    typename L::Vector target[targets];
    for (int a = 0; a < targets; ++a) target[a] = L::all(t[i + a]);
    LaneSums<Real, targets>(length, 2 * L::width, [&](int64_t j, auto& total) {
      const TwoSources<Real> source(e + from, j, length);
      const auto sum = source.a + source.b, product = source.a * source.b, twice = product + product;
      for (int a = 0; a < targets; ++a)
        total[a] += multiply_add(target[a], sum, twice) / multiply_add(target[a], target[a] + sum, product);
    }).add_to(to);
  });
}

/// Computes k, the derivative of the sigmoid, for one target row paired with each of two source rows.
template <class V>
struct TwoKernels {
  V a, b;
  TwoKernels(V t, V source_a, V source_b) {
    const V ta = t + source_a, tb = t + source_b, inverse = 1 / (ta * tb), ia = inverse * tb, ib = inverse * ta;
    a = (t * ia) * (source_a * ia);
    b = (t * ib) * (source_b * ib);
  }
};

template <class Real, int Targets>
void kernel_block(const Real* e, int64_t n, const Real* t, const Real* g, Real* totals, double* sums) {
  using L = Lanes<Real>;
  LaneSums<Real, Targets>(n, 2 * L::width, [&](int64_t j, auto& sum) {
    const TwoSources<Real> source(e, j, n);
    TwoSources<Real> total(totals, j, n);
    for (int a = 0; a < Targets; ++a) {
      const TwoKernels k(L::all(t[a]), source.a, source.b);
      sum[a] += k.a + k.b;
      total.a = multiply_add(L::all(g[a]), k.a, total.a);
      total.b = multiply_add(L::all(g[a]), k.b, total.b);
    }
    L::store(totals + j, total.a);
    if (j + L::width < n) L::store(totals + j + L::width, total.b);
  }).add_to(sums);
}

template <class Real>
void kernel_sums(const Real* e, int64_t n, const Real* t, const Real* g, int64_t m, double* totals, double* sums) {
  fill(sums, m, 0.0);
  alignas(64) Real part[block];
  for (int64_t first = 0; first < n; first += block) {
    const int64_t length = smaller(block, n - first);
    for (int64_t from = 0; from < m; from += target_block) {
      fill(part, length, Real(0));
      for_tiles(from, smaller(m, from + target_block), [&](int64_t i, auto targets) {
        kernel_block<Real, targets>(e + first, length, t + i, g + i, part, sums + i);
      });
      for (int64_t j = 0; j < length; ++j) totals[first + j] += part[j];
    }
  }
}

template <class Real>
void kernel_differences(const Real* e, const Real* w, int64_t n, const Real* t, const Real* v, int64_t m,
                        double* sums) {
  using L = Lanes<Real>;
  sum_over_blocks(n, m, sums, [&](int64_t from, int64_t length, int64_t i, auto targets, double* to) {
    LaneSums<Real, targets>(length, 2 * L::width, [&](int64_t j, auto& total) {
      const TwoSources<Real> source(e + from, j, length), weight(w + from, j, length);
      for (int a = 0; a < targets; ++a) {
        const TwoKernels k(L::all(t[i + a]), source.a, source.b);
        total[a] += multiply_add(weight.a - v[i + a], k.a, (weight.b - v[i + a]) * k.b);
      }
    }).add_to(to);
  });
}

/// Computes 1 / prod_j (1 + e_j / t_i) for every target row i, with one division per target. Even and odd source rows j
/// have separate products, so that a multiplication need not wait for the previous one.
template <class Real>
void products(const Real* e, int64_t n, const Real* t, int64_t m, double* out) {
  using L = Lanes<Real>;
  constexpr int64_t together = 2 * L::width, vectors = together / L::count;
  for (int64_t i = 0; i < m; i += together) {
    const int64_t count = smaller(together, m - i);
    Real of_block[together];
    fill(of_block, together, Real(1));
    std::memcpy(of_block, t + i, count * sizeof(Real));
    typename L::Vector inverse[vectors], even[vectors], odd[vectors];
    for (int64_t v = 0; v < vectors; ++v) {
      inverse[v] = 1 / L::load(of_block + v * L::count);
      even[v] = odd[v] = L::all(1);
    }
    for (int64_t j = 0; j < n; j += 2) {
      for (int64_t v = 0; v < vectors; ++v) {
        even[v] *= multiply_add(L::all(e[j]), inverse[v], L::all(1));
        odd[v] *= multiply_add(L::all(e[j + 1]), inverse[v], L::all(1));
      }
    }
    for (int64_t v = 0; v < vectors; ++v) L::store(of_block + v * L::count, 1 / (even[v] * odd[v]));
    for (int64_t a = 0; a < count; ++a) out[i + a] = of_block[a];
  }
}

template <class Real>
void ratio_differences(const Real* e, const Real* w, int64_t n, const Real* t, const Real* v, int64_t m, double* sums) {
  using L = Lanes<Real>;
  sum_over_blocks(n, m, sums, [&](int64_t from, int64_t length, int64_t i, auto targets, double* to) {
    LaneSums<Real, targets>(length, 2 * L::width, [&](int64_t j, auto& total) {
      const TwoSources<Real> source(e + from, j, length), weight(w + from, j, length);
      for (int a = 0; a < targets; ++a) {
        const auto target = L::all(t[i + a]), own = L::all(v[i + a]);
        const auto with_a = target + source.a, with_b = target + source.b;
        const auto of_a = multiply_add(own, source.a, -(weight.a * target));
        const auto of_b = multiply_add(own, source.b, -(weight.b * target));
        total[a] += multiply_add(of_a, with_b, of_b * with_a) / (with_a * with_b);
      }
    }).add_to(to);
  });
}

inline void sigmoids(const double* t, int64_t n, double* values, double* slopes) {
  using L = Lanes<double>;
  for (int64_t j = 0; j < n; j += L::count) {
    const Sigmoid of(L::load(t + j), L::all(1));
    L::store(values + j, of.value);
    L::store(slopes + j, of.slope);
  }
}

template <class Real>
void discounts(const Real* __restrict__ ranks, int64_t n, double* __restrict__ values, double* __restrict__ slopes) {
  for (int64_t i = 0; i < n; ++i) {
    const SlopedDiscount of = sloped_discount(ranks[i]);
    values[i] = of.value;
    slopes[i] = of.slope;
  }
}

template <class Real>
PairLoops<Real> pairs() {
  return {.range = &range<Real>,
          .exponentials = &exponentials<Real>,
          .rank_sums = &rank_sums<Real>,
          .kernel_sums = &kernel_sums<Real>,
          .kernel_differences = &kernel_differences<Real>,
          .products = &products<Real>,
          .ratio_differences = &ratio_differences<Real>,
          .sigmoids = &sigmoids,
          .discounts = &discounts<Real>};
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
PairLoops<float> loops_of<PairLoops<float>, Simd::MR_SIMD>() {
  return MR_SIMD::pairs<float>();
}
template <>
PairLoops<double> loops_of<PairLoops<double>, Simd::MR_SIMD>() {
  return MR_SIMD::pairs<double>();
}

}  // namespace mr::cpu
