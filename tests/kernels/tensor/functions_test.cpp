// Elementwise functions: the vector loops give the same bits as the plain functions, with every instruction set of this
// processor.
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/launch_cpu.h"
#include "kernels/tensor/functions_cpu.h"
#include "kernels/tensor/rows.h"
#include "tests/support/random_entries.h"
#include "tests/support/simd_forms.h"

using namespace mr;

namespace {

template <class Real>
std::vector<Real> entries_of(int64_t count) {
  std::vector<Real> x = test::random<Real>(count, "entries", -30, 30);
  const std::vector<Real> wide = test::random<Real>(count, "wide", -800, 800);
  using Limits = std::numeric_limits<Real>;
  const std::vector<Real> ends = {0,
                                  -Real(0),
                                  1,
                                  -1,
                                  Limits::infinity(),
                                  -Limits::infinity(),
                                  Limits::quiet_NaN(),
                                  Limits::denorm_min(),
                                  -Limits::min(),
                                  Limits::max(),
                                  Real(0.625),
                                  Real(1e-9),
                                  88,
                                  -104,
                                  710,
                                  -746};
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % 3 == 1) x[i] = wide[i];
    if (i % 5 == 4) x[i] = ends[i / 5 % ends.size()];
  }
  return x;
}

/// Returns true if two numbers have equal bits or are both NaN.
template <class Real>
bool same(Real a, Real b) {
  using Bits = std::conditional_t<sizeof(Real) == 4, uint32_t, uint64_t>;
  return (std::isnan(a) && std::isnan(b)) || std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

template <class Real>
void check_loops(const cpu::FunctionLoops<Real>& loops) {
  const auto plain = ArithmeticKernels<Real>::template made_for<cpu::Backend>();
  for (const int64_t n : {0, 1, 7, 15, 16, 17, 31, 33, 1000, 8193}) {
    std::vector<Real> in = entries_of<Real>(n), upstream = test::random<Real>(n, "upstream"), found(n), expected(n);
    const auto check = [&](const char* name, const auto& loop, auto value, auto product) {
      CAPTURE(name, n);
      loop.values(in.data(), found.data(), n);
      value(n, {{in.data(), n}, {expected.data(), n}});
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i) wrong += same(found[i], expected[i]) ? 0 : 1;
      loop.products(in.data(), upstream.data(), found.data(), n);
      product(n, {{in.data(), n}, {upstream.data(), n}, {expected.data(), n}});
      for (int64_t i = 0; i < n; ++i) wrong += same(found[i], expected[i]) ? 0 : 1;
      CHECK(wrong == 0);
    };
    check("exp", loops.exp, plain.exp, plain.exp_vjp);
    check("log", loops.log, plain.log, plain.log_vjp);
    check("sigmoid", loops.sigmoid, plain.sigmoid, plain.sigmoid_vjp);
    check("tanh", loops.tanh, plain.tanh, plain.tanh_vjp);
    check("softplus", loops.softplus, plain.softplus, plain.softplus_vjp);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("loops of functions of entries have the bits of the plain forms", "[kernels]", float, double) {
  using Loops = cpu::FunctionLoops<TestType>;
  for (const auto& [set, loops] : simd_forms<Loops>()) {
    INFO(set);
    check_loops<TestType>(loops);
  }
}

TEMPLATE_TEST_CASE("squares have the bits of the general power", "[kernels]", float, double) {
  using Real = TestType;
  const auto plain = ArithmeticKernels<Real>::template made_for<cpu::Backend>();
  const auto& fast = cpu_table<ArithmeticKernels<Real>>();
  const int64_t n = 1000;
  std::vector<Real> in = entries_of<Real>(n), upstream = test::random<Real>(n, "upstream"), two{2};
  std::vector<Real> found(n), expected(n);
  const Broadcast number{.step = 0};
  for (const auto& [table, out] : {std::pair{&plain, &expected}, std::pair{&fast, &found}})
    table->pow(n, {{in.data(), n}, {two.data(), 1}, {out->data(), n}, {}, number});
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) wrong += same(found[i], expected[i]) ? 0 : 1;
  for (const auto& [table, out] : {std::pair{&plain, &expected}, std::pair{&fast, &found}})
    table->pow_vjp(n, {{in.data(), n}, {two.data(), 1}, {upstream.data(), n}, {out->data(), n}, {}, {}, number});
  for (int64_t i = 0; i < n; ++i) wrong += same(found[i], expected[i]) ? 0 : 1;
  CHECK(wrong == 0);
}
