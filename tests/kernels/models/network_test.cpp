// Compares attention that is computed tile by tile with a plain implementation in float64, and tests its inner loops
// with every instruction set of this processor. Layer normalization is tested on emulated GPU lanes.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/models/attention_cpu.h"
#include "kernels/models/rows.h"
#include "tests/support/emulated_group.h"
#include "tests/support/random_entries.h"
#include "tests/support/simd_forms.h"

using namespace mr;
using test::random;

namespace {

template <class Real>
auto all_loops() {
  return simd_forms<cpu::NetworkLoops<Real>>();
}

template <class T>
Span<T> span(std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

/// Test input: lists of n, 0, 1 and n + 1 rows, and all arrays that attention and its derivative read and write.
template <class Real>
struct Case {
  int64_t heads, columns;
  std::vector<int64_t> offsets;
  std::vector<Real> q, k, v, upstream, out, log_sums, by_q, by_k, by_v;

  Case(int64_t n, int64_t heads_, int64_t columns_, double size)
      : heads(heads_), columns(columns_), offsets{0, n, n, n + 1, 2 * n + 2} {
    const int64_t entries = offsets.back() * heads * columns;
    q = random<Real>(entries, "q", -size, size);
    k = random<Real>(entries, "k", -size, size);
    v = random<Real>(entries, "v");
    upstream = random<Real>(entries, "u");
    log_sums.resize(static_cast<size_t>(offsets.back() * heads));
    for (auto* const each : {&out, &by_q, &by_k, &by_v}) each->assign(static_cast<size_t>(entries), Real(-7));
  }
  template <class Table>
  void run(const Table& table) {
    const AttentionInputs<Real> in{span<Real>(q), span<Real>(k), span<Real>(v), {offsets.data(), 4}, heads, columns};
    table.attention(4 * heads, {in, span(out), span(log_sums)});
    table.attention_vjp(4 * heads, {in, span<Real>(out), span<Real>(log_sums), span<Real>(upstream), span(by_q),
                                    span(by_k), span(by_v)});
  }
};

struct PlainBackend {
  template <class Work>
  static void lists(int64_t count, const Work& work) {
    for (int64_t l = 0; l < count; ++l) work(SerialGroup{}, l);
  }
  template <class Work>
  static void elements(int64_t count, const Work& work) {
    for (int64_t i = 0; i < count; ++i) work(i);
  }
};

template <class Real>
double worst(const std::vector<Real>& found, const std::vector<double>& expected) {
  REQUIRE(found.size() == expected.size());
  double most = 0;
  for (size_t i = 0; i < found.size(); ++i) most = std::fmax(most, std::fabs(found[i] - expected[i]));
  return most;
}

}  // namespace

TEMPLATE_TEST_CASE("attention by tiles agrees with the plain form in float64", "", float, double) {
  const int64_t n = GENERATE(0, 1, 31, 32, 33, 127, 128, 129);
  const auto [heads, columns] = GENERATE(std::pair{1, 5}, std::pair{3, 8});
  // size of the scores: attention weights are all equal (0), ordinary (1), or concentrated on one row (12)
  const double size = GENERATE(0.0, 1.0, 12.0);
  Case<double> plain(n, heads, columns, size);
  Case<TestType> fast(n, heads, columns, size);
  // copies the inputs, so that both forms start from the same values
  for (auto [to, from] :
       {std::pair{&plain.q, &fast.q}, {&plain.k, &fast.k}, {&plain.v, &fast.v}, {&plain.upstream, &fast.upstream}})
    to->assign(from->begin(), from->end());
  plain.run(NetworkKernels<double>::made_for<PlainBackend>());
  fast.run(cpu_table<NetworkKernels<TestType>>());
  const double room =
      (sizeof(TestType) == 4 ? 2e-6 : 1e-14) * (1 + size * size * 4) * (1 + 0.1 * static_cast<double>(n));
  CHECK(worst(fast.out, plain.out) <= room);
  CHECK(worst(fast.by_q, plain.by_q) <= room);
  CHECK(worst(fast.by_k, plain.by_k) <= room);
  CHECK(worst(fast.by_v, plain.by_v) <= room);
}

TEMPLATE_TEST_CASE("attention weights of a row agree with exact softmax weights with every instruction set", "", float,
                   double) {
  const int64_t n = GENERATE(1, 2, 15, 16, 17, 33, 1000);
  const double size = GENERATE(0.0, 3.0, 80.0, 1e4);
  const auto x = random<TestType>(n, "x", -size, size);
  double top = -INFINITY, total = 0;
  for (const double each : x) top = std::fmax(top, each);
  for (const double each : x) total += std::exp(each - top);
  for (const auto& [name, loops] : all_loops<TestType>()) {
    INFO(name);
    std::vector<TestType> row = x, again = x;
    row.resize(static_cast<size_t>(n + 15) / 16 * 16);
    again.resize(row.size());
    const TestType log_sum = loops.softmax(row.data(), n);
    loops.weights(again.data(), n, log_sum);
    const double room = 4 * std::numeric_limits<TestType>::epsilon();
    CHECK(log_sum == Approx(top + std::log(total)).epsilon(room));
    double first = 0, second = 0;
    for (int64_t j = 0; j < n; ++j) {
      const double expected = std::exp(static_cast<double>(x[j]) - top) / total;
      first = std::fmax(first, std::fabs(row[j] - expected));
      second = std::fmax(second, std::fabs(again[j] - expected));
    }
    CHECK(first <= room);
    CHECK(second <= room * (1 + size));  // this error grows with the scores, because log_sum is rounded
  }
}

TEMPLATE_TEST_CASE("attention weights of a row are NaN if a score of the row is not finite", "", float, double) {
  const double bad = GENERATE(INFINITY, -INFINITY, NAN);
  for (const auto& [name, loops] : all_loops<TestType>()) {
    INFO(name);
    std::vector<TestType> row(32, TestType(1));
    row[3] = static_cast<TestType>(bad);
    CHECK(std::isnan(loops.softmax(row.data(), 17)));
    for (int64_t j = 0; j < 17; ++j) CHECK(std::isnan(row[j]));
  }
}

TEMPLATE_TEST_CASE("LayerNorm and its derivatives over emulated lanes agree with the plain sums", "", float, double) {
  const int64_t width = GENERATE(1, 31, 32, 33, 129), rows = 300;
  const auto order = GENERATE(test::Order::forward, test::Order::backward);
  auto x = random<TestType>(rows * width, "x"), gain = random<TestType>(width, "g"),
       bias = random<TestType>(width, "b");
  auto upstream = random<TestType>(rows * width, "u");
  std::vector<TestType> y(x.size()), mean(rows), inverse(rows), by_x(x.size()), by_gain(2 * width), by_bias(2 * width);
  const LayerNorm<TestType> forward{span<TestType>(x), span<TestType>(gain), span<TestType>(bias), width, 1e-5,
                                    span(y),           span(mean),           span(inverse)};
  const LayerNormViews<TestType> views{span<TestType>(x),       span<TestType>(gain),     span<TestType>(mean),
                                       span<TestType>(inverse), span<TestType>(upstream), width};
  const test::EmulatedGroup group(128, order);
  for (int64_t row = 0; row < rows; ++row) forward(group, row);
  for (int64_t row = 0; row < rows; ++row) LayerNormVjp<TestType>{views, span(by_x)}(group, row);
  for (int64_t piece = 0; piece < 2; ++piece)
    LayerNormSums<TestType>{views, span(by_gain), span(by_bias)}(group, piece);
  // rounding errors are amplified by up to 1 / sqrt(epsilon) where the variance of a row is near 0
  const double room = sizeof(TestType) == 4 ? 1e-3 : 1e-9;
  double y_off = 0, gain_off = 0, bias_off = 0;
  for (int64_t c = 0; c < width; ++c) {
    double gain_sum = 0, bias_sum = 0;
    for (int64_t row = 0; row < rows; ++row) {
      const TestType* const of = x.data() + row * width;
      double centre = 0, squares = 0;
      for (int64_t i = 0; i < width; ++i) centre += of[i] / static_cast<double>(width);
      for (int64_t i = 0; i < width; ++i) squares += (of[i] - centre) * (of[i] - centre) / static_cast<double>(width);
      const double z = (of[c] - centre) / std::sqrt(squares + 1e-5);
      y_off = std::fmax(y_off, std::fabs(y[row * width + c] - (z * gain[c] + bias[c])));
      gain_sum += z * upstream[row * width + c];
      bias_sum += upstream[row * width + c];
    }
    gain_off = std::fmax(gain_off, std::fabs(by_gain[c] + by_gain[width + c] - gain_sum));
    bias_off = std::fmax(bias_off, std::fabs(by_bias[c] + by_bias[width + c] - bias_sum));
  }
  CHECK(y_off <= room);
  CHECK(gain_off <= room);
  CHECK(bias_off <= room);
}
