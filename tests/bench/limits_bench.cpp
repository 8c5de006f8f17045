// Measures the limits of one core: bytes copied per second (read and written); divisions and fused multiply-adds per
// second in single precision, eight at a time (AVX2); the time to read or change a random row of 32 to 96 numbers in
// tables of several sizes; and the time of two threads to change rows that the same or the other thread changed last.
#include <atomic>
#include <benchmark/benchmark.h>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <sys/mman.h>
#include <thread>
#include <utility>
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

constexpr size_t line = 16;  // number of floats in a cache line

/// A table of rows of `width` numbers, in huge pages if the system has them (like memory of tensors), and a random
/// order in which a benchmark visits all rows.
struct Rows {
  size_t count, width;
  float* table;
  std::vector<uint32_t> order;

  Rows(size_t kibibytes, size_t numbers)
      : count(kibibytes * 1024 / (numbers * sizeof(float))), width(numbers), order(count) {
    const size_t page = size_t{2} << 20, bytes = (kibibytes * 1024 + page - 1) / page * page;
    table = static_cast<float*>(std::aligned_alloc(page, bytes));
#if defined(MADV_HUGEPAGE)
    static_cast<void>(madvise(table, bytes, MADV_HUGEPAGE));
#endif
    std::memset(table, 0, bytes);
    std::iota(order.begin(), order.end(), uint32_t{0});
    uint64_t random = 1;
    for (size_t i = count - 1; i > 0; --i) {
      random = random * 6364136223846793005U + 1442695040888963407U;
      std::swap(order[i], order[(random >> 33) % (i + 1)]);
    }
  }
  ~Rows() { std::free(table); }
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;
};

/// Benchmark that reads rows of a table in random order, or changes them if `writes` is true. If `ahead` is 0, the
/// index of the next row depends on the row just read, so that reads cannot overlap. Otherwise rows are prefetched
/// `ahead` rows before they are used, as the kernels do.
template <int ahead, bool writes>
void limit_row(benchmark::State& state) {
  const Rows rows(static_cast<size_t>(state.range(0)), static_cast<size_t>(state.range(1)));
  size_t i = 0, shift = 0;
  float total = 0;
  for (auto _ : state) {
    float* const row = rows.table + (rows.order[i] ^ shift) * rows.width;
    if (ahead > 0) {
      const float* const next = rows.table + rows.order[i + ahead < rows.count ? i + ahead : 0] * rows.width;
      for (size_t c = 0; c < rows.width; c += line) __builtin_prefetch(next + c, writes ? 1 : 0);
    }
    for (size_t c = 0; c < rows.width; c += line) total += writes ? row[c] *= 2 : row[c];
    if (ahead == 0) shift = total != 0 ? 1 : 0;  // always 0, but the processor knows only after reading the row
    if (++i == rows.count) i = 0;
  }
  benchmark::DoNotOptimize(total);
}
void sizes(benchmark::internal::Benchmark* of) {
  for (const int kibibytes : {512, 8 << 10, 64 << 10, 256 << 10}) of->Args({kibibytes, 32});
  of->Args({256 << 10, 64})->Args({256 << 10, 96});
}
BENCHMARK_TEMPLATE(limit_row, 0, false)->Apply(&sizes);
BENCHMARK_TEMPLATE(limit_row, 8, false)->Apply(&sizes);
BENCHMARK_TEMPLATE(limit_row, 8, true)->Apply(&sizes);

/// Two threads change one half of the rows each in every round, in random order. If `swaps` is true, the halves
/// alternate, so that a thread changes rows that the other one changed last, which move from cache to cache.
void limit_two_threads(benchmark::State& state, bool swaps) {
  const Rows half(static_cast<size_t>(state.range(0)) / 2, 32), other_half(static_cast<size_t>(state.range(0)) / 2, 32);
  std::atomic<uint64_t> begun{0}, ended{0};
  const auto change = [&](uint64_t round, uint64_t thread) {
    const Rows& rows = (thread + (swaps ? round : 0)) % 2 == 0 ? half : other_half;
    for (size_t i = 0; i < rows.count; ++i) {
      const float* const next = rows.table + rows.order[i + 8 < rows.count ? i + 8 : 0] * rows.width;
      for (size_t c = 0; c < rows.width; c += line) __builtin_prefetch(next + c, 1);
      float* const row = rows.table + rows.order[i] * rows.width;
      for (size_t c = 0; c < rows.width; ++c) row[c] = row[c] * 0.5F + 1;
    }
  };
  constexpr uint64_t last = UINT64_MAX;
  std::thread other([&] {
    for (uint64_t round = 1;; ++round) {
      uint64_t now = 0;
      while ((now = begun.load(std::memory_order_acquire)) < round) {
      }
      if (now == last) return;
      change(round, 1);
      ended.store(round, std::memory_order_release);
    }
  });
  uint64_t round = 0;
  for (auto _ : state) {
    begun.store(++round, std::memory_order_release);
    change(round, 0);
    while (ended.load(std::memory_order_acquire) < round) {
    }
  }
  begun.store(last, std::memory_order_release);
  other.join();
  state.SetItemsProcessed(state.iterations() * static_cast<int64_t>(half.count + other_half.count));
}
BENCHMARK_CAPTURE(limit_two_threads, own_rows, false)->Arg(256)->Arg(1024)->UseRealTime();
BENCHMARK_CAPTURE(limit_two_threads, rows_of_the_other, true)->Arg(256)->Arg(1024)->UseRealTime();

#if defined(__x86_64__)
typedef float Lanes __attribute__((vector_size(32)));  // NOLINT: the attribute needs typedef

constexpr int chains = 12;  // dependency chains that do not depend on each other
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
