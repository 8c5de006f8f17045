// Benchmark of smooth ranks and their derivative for one list of N rows whose every second row is relevant. It compares
// three algorithms: sums over all pairs, sums over pairs with near scores, and boxes. A forward pass takes one weight
// (ranks) or two (ranks, and ranks among the relevant rows); a backward pass takes two (nDCG) or four (AP); a step is a
// forward pass with two weights and a backward pass with four. The label names the distribution of the scores. per_pair
// is the time divided by (number of relevant rows) x N.
#include <benchmark/benchmark.h>

#include "kernels/core/threads.h"
#include "kernels/smooth/boxes/box_ranks.h"
#include "kernels/smooth/near_pairs.h"
#include "kernels/smooth/smooth_pairs.h"
#include "tests/bench/one_list.h"

using namespace mr;
using namespace mr::bench;

namespace {

void report(benchmark::State& state, int64_t pairs) {
  using benchmark::Counter;
  state.SetLabel(score_shapes[state.range(1)]);
  state.counters["per_pair"] =
      Counter(static_cast<double>(pairs), Counter::kIsIterationInvariantRate | Counter::kInvert);
}

template <class Real, int weights>
void pairs_forward(benchmark::State& state) {
  OneList<Real> list(state.range(0), state.range(1));
  for (auto _ : state) cpu::ranks_by_pairs(1, list.rank(weights == 2));
  report(state, list.pairs());
}

template <class Real, int weights>
void pairs_backward(benchmark::State& state) {
  OneList<Real> list(state.range(0), state.range(1));
  for (auto _ : state) cpu::vjp_by_pairs(1, list.vjp(weights == 4));
  report(state, list.pairs());
}

template <class Real, int weights>
void near_forward(benchmark::State& state) {
  OneList<Real> list(state.range(0), state.range(1));
  for (auto _ : state) {
    if (!cpu::near_ranks(list.rank(weights == 2), 0)) return state.SkipWithError("scores are not spread enough");
  }
  report(state, list.pairs());
}

template <class Real, int weights>
void near_backward(benchmark::State& state) {
  OneList<Real> list(state.range(0), state.range(1));
  for (auto _ : state) {
    if (!cpu::near_vjp(list.vjp(weights == 4), 0)) return state.SkipWithError("scores are not spread enough");
  }
  report(state, list.pairs());
}

template <class Real, int weights>
void boxes_forward(benchmark::State& state) {
  OneList<Real> list(state.range(0), state.range(1));
  for (auto _ : state) cpu::box_ranks(list.rank(weights == 2), 0);
  report(state, list.pairs());
}

template <class Real, int weights>
void boxes_backward(benchmark::State& state) {
  OneList<Real> list(state.range(0), state.range(1));
  for (auto _ : state) cpu::box_vjp(list.vjp(weights == 4), 0);
  report(state, list.pairs());
}

template <class Real>
void boxes_step(benchmark::State& state) {
  OneList<Real> list(state.range(0), state.range(1));
  for (auto _ : state) {
    cpu::box_ranks(list.rank(true), 0);
    cpu::box_vjp(list.vjp(true), 0);
  }
  report(state, list.pairs());
}

template <class Real>
void plain_forward(benchmark::State& state) {
  OneList<Real> list(state.range(0), state.range(1));
  for (auto _ : state) list.rank(false)(SerialGroup{}, 0);
  report(state, list.pairs());
}

constexpr int64_t largest_track = 222472;  // number of rows of the longest list in a public data set

void few(benchmark::internal::Benchmark* b) {
  for (const int64_t shape : {1, 4}) {
    for (const int64_t n : {64, 1024}) b->Args({n, shape});
  }
}
void sizes(benchmark::internal::Benchmark* b) {
  for (int64_t shape = 0; shape < 6; ++shape) {
    for (const int64_t n : {32, 64, 128, 256, 1024, 4096}) b->Args({n, shape});
  }
}
void spread_sizes(benchmark::internal::Benchmark* b) {
  for (const int64_t n : {32, 64, 128, 256, 1024, 4096, 16384}) b->Args({n, 4});
}
void long_sizes(benchmark::internal::Benchmark* b) {
  sizes(b);
  for (int64_t shape = 0; shape < 6; ++shape) {
    for (const int64_t n : {int64_t{16384}, int64_t{65536}, largest_track}) b->Args({n, shape});
  }
}

}  // namespace

#define MR_BOTH(name, of, args)                                                                   \
  BENCHMARK_TEMPLATE(name, float, of)->Apply(args)->Unit(benchmark::kMicrosecond)->UseRealTime(); \
  BENCHMARK_TEMPLATE(name, double, of)->Apply(args)->Unit(benchmark::kMicrosecond)->UseRealTime();
MR_BOTH(pairs_forward, 1, sizes)
MR_BOTH(pairs_forward, 2, sizes)
MR_BOTH(pairs_backward, 2, sizes)
MR_BOTH(pairs_backward, 4, sizes)
MR_BOTH(near_forward, 1, spread_sizes)
MR_BOTH(near_forward, 2, spread_sizes)
MR_BOTH(near_backward, 2, spread_sizes)
MR_BOTH(near_backward, 4, spread_sizes)
MR_BOTH(boxes_forward, 1, long_sizes)
MR_BOTH(boxes_forward, 2, long_sizes)
MR_BOTH(boxes_backward, 2, long_sizes)
MR_BOTH(boxes_backward, 4, long_sizes)
BENCHMARK_TEMPLATE(boxes_step, float)->Apply(long_sizes)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_TEMPLATE(boxes_step, double)->Apply(long_sizes)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_TEMPLATE(plain_forward, float)->Apply(few)->Unit(benchmark::kMicrosecond)->UseRealTime();
BENCHMARK_TEMPLATE(plain_forward, double)->Apply(few)->Unit(benchmark::kMicrosecond)->UseRealTime();
