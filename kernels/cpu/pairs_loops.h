// The loops of pairs.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by pairs_*.cpp only.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/pairs.h"

namespace mr::cpu::MR_SIMD {
namespace {

template <class Real>
struct Lanes {
  typedef Real Vector __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
  static constexpr int64_t count = MR_VECTOR_BYTES / sizeof(Real);

  static Vector load(const Real* from) {
    Vector v;
    std::memcpy(&v, from, sizeof v);
    return v;
  }
  static void store(Real* to, Vector v) { std::memcpy(to, &v, sizeof v); }
  static double sum(Vector v) {
    double total = 0;
    for (int64_t i = 0; i < count; ++i) total += v[i];
    return total;
  }
};

constexpr int64_t block = 2048;  // sources between flushes to double, so that long float sums keep their digits
constexpr int tile = 4;          // targets that share a load of the sources

template <class Real, int Targets>
void rank_block(const Real* e, int64_t n, const Real* t, double* sums) {
  using L = Lanes<Real>;
  typename L::Vector total[Targets] = {}, target[Targets];
  for (int a = 0; a < Targets; ++a) target[a] = t[a] - typename L::Vector{};
  for (int64_t j = 0; j < n; j += L::count) {
    const auto source = L::load(e + j);
    for (int a = 0; a < Targets; ++a) total[a] += source / (target[a] + source);
  }
  for (int a = 0; a < Targets; ++a) sums[a] += L::sum(total[a]);
}

template <class Real>
void rank_sums(const Real* e, int64_t n, const Real* t, int64_t m, double* sums) {
  std::fill(sums, sums + m, 0.0);
  for (int64_t first = 0; first < n; first += block) {
    const int64_t length = std::min(block, n - first);
    int64_t i = 0;
    for (; i + tile <= m; i += tile) rank_block<Real, tile>(e + first, length, t + i, sums + i);
    for (; i < m; ++i) rank_block<Real, 1>(e + first, length, t + i, sums + i);
  }
}

template <class Real, int Targets>
void kernel_block(const Real* e, int64_t n, const Real* t, const Real* g, Real* totals, double* sums) {
  using L = Lanes<Real>;
  typename L::Vector sum[Targets] = {}, target[Targets], weight[Targets];
  for (int a = 0; a < Targets; ++a) {
    target[a] = t[a] - typename L::Vector{};
    weight[a] = g[a] - typename L::Vector{};
  }
  for (int64_t j = 0; j < n; j += L::count) {
    const auto source = L::load(e + j);
    auto total = L::load(totals + j);
    for (int a = 0; a < Targets; ++a) {
      const auto inverse = 1 / (target[a] + source);
      const auto k = (target[a] * inverse) * (source * inverse);
      sum[a] += k;
      total += weight[a] * k;
    }
    L::store(totals + j, total);
  }
  for (int a = 0; a < Targets; ++a) sums[a] += L::sum(sum[a]);
}

template <class Real>
void kernel_sums(const Real* e, int64_t n, const Real* t, const Real* g, int64_t m, double* totals, double* sums) {
  std::fill(sums, sums + m, 0.0);
  alignas(64) Real part[block];
  constexpr int64_t targets_between_flushes = 512;
  for (int64_t first = 0; first < n; first += block) {
    const int64_t length = std::min(block, n - first);
    for (int64_t from = 0; from < m; from += targets_between_flushes) {
      const int64_t to = std::min(m, from + targets_between_flushes);
      std::fill(part, part + length, Real(0));
      int64_t i = from;
      for (; i + tile <= to; i += tile) kernel_block<Real, tile>(e + first, length, t + i, g + i, part, sums + i);
      for (; i < to; ++i) kernel_block<Real, 1>(e + first, length, t + i, g + i, part, sums + i);
      for (int64_t j = 0; j < length; ++j) totals[first + j] += part[j];
    }
  }
}

}  // namespace

template <class Real>
PairLoops<Real> loops() {
  return {&rank_sums<Real>, &kernel_sums<Real>};
}
template PairLoops<float> loops<float>();
template PairLoops<double> loops<double>();

}  // namespace mr::cpu::MR_SIMD
