// Measures the limits of one core: bytes copied per second (read and written), and single-precision
// numbers per second in divisions and in fused multiply-adds, eight at a time (AVX2).
#include <benchmark/benchmark.h>
#include <cstring>
#include <vector>

namespace {

void limit_copy(benchmark::State& state) {
  const std::vector<char> from(size_t{256} << 20, 1);
  std::vector<char> to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(2 * from.size()));
}
BENCHMARK(limit_copy)->Unit(benchmark::kMillisecond);

#if defined(__x86_64__)
typedef float Lanes __attribute__((vector_size(32)));  // NOLINT: the attribute needs typedef

constexpr int chains = 12;  // independent of each other
constexpr int rounds = 64;

__attribute__((target("avx2,fma"))) void divide(Lanes* x) {
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < chains; ++k) x[k] = 1.5F / x[k];
  }
}

__attribute__((target("avx2,fma"))) void multiply_add(Lanes* x) {
  for (int round = 0; round < rounds; ++round) {
    for (int k = 0; k < chains; ++k) x[k] = x[k] * 0.75F + 0.25F;
  }
}

void run(benchmark::State& state, void (*work)(Lanes*)) {
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma"))
    return state.SkipWithError("the processor has no AVX2");
  float numbers[chains * 8];
  for (int i = 0; i < chains * 8; ++i) numbers[i] = 1.0F + 0.01F * static_cast<float>(i);
  alignas(32) Lanes x[chains];
  std::memcpy(x, numbers, sizeof x);
  for (auto _ : state) {
    work(x);
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * rounds * chains * 8);
}

BENCHMARK_CAPTURE(run, limit_division, &divide);
BENCHMARK_CAPTURE(run, limit_multiply_add, &multiply_add);
#endif

}  // namespace
