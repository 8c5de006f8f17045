// The loops of pairs.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by pairs_*.cpp only.
// A division takes as long as all the rest, so two sources share one: with u = t + a + b,
// (t + a)(t + b) = t u + a b, and a/(t+a) + b/(t+b) = (t (a + b) + 2 a b) / (t u + a b).
#include "kernels/core/lanes.h"
#include "kernels/smooth/logistic_loops.h"
#include "kernels/smooth/pairs.h"

namespace mr::cpu::MR_SIMD {
namespace {

constexpr int64_t block = 2048;        // sources between additions to double, so that long float sums stay accurate
constexpr int64_t target_block = 128;  // targets between additions of what is summed for every source
constexpr int tile = 4;                // targets that share a load of the sources

/// A number of targets, known at compile time.
template <int n>
struct Count {
  constexpr operator int() const { return n; }
};

/// Two vectors of sources from j on; the second is 0 where n is an odd number of vectors.
template <class Real>
struct TwoSources {
  typename Lanes<Real>::Vector a, b;
  TwoSources(const Real* from, int64_t j, int64_t n) : a(Lanes<Real>::load(from + j)), b{} {
    if (j + Lanes<Real>::count < n) b = Lanes<Real>::load(from + j + Lanes<Real>::count);
  }
};

/// Calls one(first target, how many as a constant) over all targets, `tile` at a time.
template <class F>
void for_tiles(int64_t first, int64_t last, F one) {
  for (; first + tile <= last; first += tile) one(first, Count<tile>());
  for (; first < last; ++first) one(first, Count<1>());
}

/// sums[i] = sum over blocks of the sources of what `block_sum(first source, length, first target, tile, sums)` adds.
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
    typename L::Vector total[targets] = {}, target[targets];
    for (int a = 0; a < targets; ++a) target[a] = L::all(t[i + a]);
    for (int64_t j = 0; j < length; j += 2 * L::count) {
      const TwoSources<Real> source(e + from, j, length);
      const auto sum = source.a + source.b, product = source.a * source.b, twice = product + product;
      for (int a = 0; a < targets; ++a)
        total[a] += (target[a] * sum + twice) / (target[a] * (target[a] + sum) + product);
    }
    for (int a = 0; a < targets; ++a) to[a] += L::sum(total[a]);
  });
}

/// k of one target and two sources.
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
  typename L::Vector sum[Targets] = {};
  for (int64_t j = 0; j < n; j += 2 * L::count) {
    const TwoSources<Real> source(e, j, n);
    TwoSources<Real> total(totals, j, n);
    for (int a = 0; a < Targets; ++a) {
      const TwoKernels k(L::all(t[a]), source.a, source.b);
      sum[a] += k.a + k.b;
      total.a += g[a] * k.a;
      total.b += g[a] * k.b;
    }
    L::store(totals + j, total.a);
    if (j + L::count < n) L::store(totals + j + L::count, total.b);
  }
  for (int a = 0; a < Targets; ++a) sums[a] += L::sum(sum[a]);
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
    typename L::Vector total[targets] = {};
    for (int64_t j = 0; j < length; j += 2 * L::count) {
      const TwoSources<Real> source(e + from, j, length), weight(w + from, j, length);
      for (int a = 0; a < targets; ++a) {
        const TwoKernels k(L::all(t[i + a]), source.a, source.b);
        total[a] += (weight.a - v[i + a]) * k.a + (weight.b - v[i + a]) * k.b;
      }
    }
    for (int a = 0; a < targets; ++a) to[a] += L::sum(total[a]);
  });
}

template <class Real>
void products(const Real* e, int64_t n, const Real* t, int64_t m, double* out) {
  using L = Lanes<Real>;
  for (int64_t i = 0; i < m; ++i) {
    const auto target = L::all(t[i]), square = target * target;
    auto total = L::all(1);
    for (int64_t j = 0; j < n; j += 2 * L::count) {
      const TwoSources<Real> source(e, j, n);
      total *= square / (target * (target + (source.a + source.b)) + source.a * source.b);
    }
    out[i] = L::product(total);
  }
}

template <class Real>
void ratio_differences(const Real* e, const Real* w, int64_t n, const Real* t, const Real* v, int64_t m, double* sums) {
  using L = Lanes<Real>;
  sum_over_blocks(n, m, sums, [&](int64_t from, int64_t length, int64_t i, auto targets, double* to) {
    typename L::Vector total[targets] = {};
    for (int64_t j = 0; j < length; j += L::count) {
      const auto source = L::load(e + from + j), weight = L::load(w + from + j);
      for (int a = 0; a < targets; ++a) total[a] += (v[i + a] * source - weight * t[i + a]) / (t[i + a] + source);
    }
    for (int a = 0; a < targets; ++a) to[a] += L::sum(total[a]);
  });
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
          .logistic = &logistic};
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
