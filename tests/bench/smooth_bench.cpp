// Smooth ranks and their derivative: the plain form against the CPU's fast one, for one list of N rows of which every
// second is relevant. items_per_second counts pairs.
#include <benchmark/benchmark.h>
#include <cmath>
#include <vector>

#include "kernels/core/rng.h"
#include "kernels/math/normal.h"
#include "kernels/tables/smooth.h"

using namespace mr;

namespace {

template <class Real>
struct OneList {
  std::vector<Real> scores, g, h, ranks, out;
  std::vector<int64_t> offsets, target_offsets;
  std::vector<int32_t> targets;

  explicit OneList(int64_t n)
      : ranks(static_cast<size_t>(n)), out(static_cast<size_t>(n)), offsets{0, n}, target_offsets{0, (n + 1) / 2} {
    const RandomKey key = random_key(1, "bench");
    for (int64_t i = 0; i < n; ++i) {
      scores.push_back(static_cast<Real>(normal(key, static_cast<uint64_t>(i))));
      if (i % 2 == 0) targets.push_back(static_cast<int32_t>(i));
    }
    g.assign(targets.size(), Real(0.5));
    h.assign(targets.size(), Real(0.25));
  }

  template <class T>
  static Span<T> span(std::vector<std::remove_const_t<T>>& v) {
    return {v.data(), static_cast<int64_t>(v.size())};
  }
  Ragged lists() const { return {offsets.data(), 1}; }
  Chosen relevant() const { return {{target_offsets.data(), 1}, targets.data()}; }
  SmoothRank<Real> rank() {
    return {span<const Real>(scores), lists(), relevant(), {lists(), nullptr}, Real(1), span<Real>(ranks)};
  }
  SmoothRankVjp<Real> vjp() {
    return {span<const Real>(scores), lists(),        relevant(), Real(1), span<const Real>(g),
            span<const Real>(h),      span<Real>(out)};
  }
  int64_t pairs() const { return offsets[1] * target_offsets[1]; }
};

template <class Real>
void rank_plain(benchmark::State& state) {
  OneList<Real> list(state.range(0));
  for (auto _ : state) list.rank()(SerialGroup{}, 0);
  state.SetItemsProcessed(state.iterations() * list.pairs());
}

template <class Real>
void rank_fast(benchmark::State& state) {
  OneList<Real> list(state.range(0));
  for (auto _ : state) cpu_table<SmoothKernels<Real>>().smooth_rank(1, list.rank());
  state.SetItemsProcessed(state.iterations() * list.pairs());
}

template <class Real>
void vjp_plain(benchmark::State& state) {
  OneList<Real> list(state.range(0));
  for (auto _ : state) list.vjp()(SerialGroup{}, 0);
  state.SetItemsProcessed(state.iterations() * list.pairs());
}

template <class Real>
void vjp_fast(benchmark::State& state) {
  OneList<Real> list(state.range(0));
  for (auto _ : state) cpu_table<SmoothKernels<Real>>().smooth_rank_vjp(1, list.vjp());
  state.SetItemsProcessed(state.iterations() * list.pairs());
}

void plain_sizes(benchmark::internal::Benchmark* b) { b->RangeMultiplier(4)->Range(64, 1024); }
void fast_sizes(benchmark::internal::Benchmark* b) { b->RangeMultiplier(4)->Range(64, 16384); }

}  // namespace

BENCHMARK_TEMPLATE(rank_plain, float)->Apply(plain_sizes)->UseRealTime();
BENCHMARK_TEMPLATE(rank_fast, float)->Apply(fast_sizes)->UseRealTime();
BENCHMARK_TEMPLATE(rank_plain, double)->Apply(plain_sizes)->UseRealTime();
BENCHMARK_TEMPLATE(rank_fast, double)->Apply(fast_sizes)->UseRealTime();
BENCHMARK_TEMPLATE(vjp_plain, float)->Apply(plain_sizes)->UseRealTime();
BENCHMARK_TEMPLATE(vjp_fast, float)->Apply(fast_sizes)->UseRealTime();
BENCHMARK_TEMPLATE(vjp_plain, double)->Apply(plain_sizes)->UseRealTime();
BENCHMARK_TEMPLATE(vjp_fast, double)->Apply(fast_sizes)->UseRealTime();
