// Compares the inner loops of factor models and of Adam with the plain kernels, entry by entry, and all instruction
// sets of this processor with each other, bit for bit.
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/models/rows.h"
#include "kernels/models/training_cpu.h"
#include "tests/support/random_entries.h"
#include "tests/support/simd_forms.h"

using namespace mr;
using test::random;

namespace {

template <class Real>
auto all_loops() {
  return simd_forms<cpu::TrainingLoops<Real>>();
}

/// Compares entries with a tolerance of a few rounding errors of numbers as large as `size` or the entry.
template <class Real>
void near(const std::vector<Real>& found, const std::vector<Real>& expected, double size = 1) {
  REQUIRE(found.size() == expected.size());
  for (size_t i = 0; i < found.size(); ++i) {
    const double room = 4 * std::numeric_limits<Real>::epsilon() * std::max(size, std::fabs(double{expected[i]}));
    CHECK(std::fabs(double{found[i]} - double{expected[i]}) <= room);
  }
}

constexpr int64_t widths[] = {1, 2, 3, 7, 8, 15, 16, 31, 32, 33, 64, 97, 200};

/// Returns a parameter and its two moments after three optimizer steps by the function `step`.
template <class Real, class F>
std::vector<std::vector<Real>> moved(int64_t entries, F step) {
  std::vector<std::vector<Real>> at{random<Real>(entries, "p"), std::vector<Real>(entries), std::vector<Real>(entries)};
  for (int t = 1; t <= 3; ++t) step(at, t);
  return at;
}

template <class Real>
AdamStep<Real> adam_at(std::vector<std::vector<Real>>& at, int t, double decay) {
  return {at[0].data(),
          at[1].data(),
          at[2].data(),
          {},
          {},
          static_cast<Real>(0.01 / (1 - std::pow(0.9, t))),
          static_cast<Real>(1 / (1 - std::pow(0.999, t))),
          static_cast<Real>(0.9),
          static_cast<Real>(0.999),
          static_cast<Real>(1e-8),
          static_cast<Real>(decay)};
}

/// Test input: `slot` says which rows have a gradient (every third one); `touched` lists the rows to update, some of
/// which have no gradient.
template <class Real>
struct SomeRows {
  std::vector<int64_t> slot, touched;
  std::vector<Real> gradient;
  SomeRows(int64_t rows, int64_t width) : slot(rows, -1), gradient(random<Real>((rows + 2) / 3 * width, "g")) {
    for (int64_t r = 0; r < rows; ++r) {
      if (r % 3 == 0) slot[r] = r / 3;
      if (r % 3 == 0 || r % 5 == 0) touched.push_back(r);
    }
  }
};

}  // namespace

TEMPLATE_TEST_CASE("TrainingLoops Adam agrees with the plain step with every instruction set", "[kernels]", float,
                   double) {
  using Real = TestType;
  for (const int64_t n : widths) {
    for (const double decay : {0.0, 0.1}) {
      const std::vector<Real> gradient = random<Real>(n, "g"), zeros(n);
      const auto plain = moved<Real>(n, [&](auto& at, int t) {
        auto step = adam_at(at, t, decay);
        step.gradient = {t == 2 ? zeros.data() : gradient.data(), nullptr, 1};
        for (int64_t i = 0; i < n; ++i) step(i);
      });
      std::vector<std::vector<Real>> first;
      for (const auto& [name, loops] : all_loops<Real>()) {
        INFO(name << ", " << n << " entries, decay " << decay);
        const auto fast = moved<Real>(n, [&, loops = loops](auto& at, int t) {
          const auto w = adam_at(at, t, decay);
          const int64_t slot = t == 2 ? -1 : 0;
          loops.adam({at[0].data(), at[1].data(), at[2].data(), gradient.data(), nullptr, &slot, n}, 0, 1,
                     {w.rate, w.correction, w.beta1, w.beta2, w.epsilon, w.decay});
        });
        for (size_t i = 0; i < 3; ++i) near(fast[i], plain[i], 0.1);
        if (first.empty()) first = fast;
        CHECK(fast == first);
      }
    }
  }
}

TEMPLATE_TEST_CASE("adam_step with a sparse gradient updates the rows that the plain step updates", "[kernels]", float,
                   double) {
  using Real = TestType;
  const int64_t rows = 700;
  for (const int64_t width : {int64_t{1}, int64_t{5}, int64_t{32}}) {
    const SomeRows<Real> of(rows, width);
    for (const bool some : {false, true}) {
      const int64_t count = (some ? static_cast<int64_t>(of.touched.size()) : rows) * width;
      const auto with = [&](auto run) {
        return moved<Real>(rows * width, [&](auto& at, int t) {
          auto step = adam_at(at, t, 0);
          step.gradient = {of.gradient.data(), of.slot.data(), width};
          step.entries = {some ? of.touched.data() : nullptr, width};
          run(step);
        });
      };
      const auto plain = with([&](const auto& step) {
        for (int64_t i = 0; i < count; ++i) step(i);
      });
      const auto fast = with([&](const auto& step) { cpu_table<TrainingKernels<Real>>().adam_step(count, step); });
      for (size_t i = 0; i < 3; ++i) near(fast[i], plain[i], 0.1);
    }
  }
}

TEMPLATE_TEST_CASE("sgd_step with dense and sparse gradients has the bits of the plain step", "[kernels]", float,
                   double) {
  using Real = TestType;
  const int64_t rows = 700;
  for (const int64_t width : {int64_t{1}, int64_t{5}, int64_t{32}}) {
    const SomeRows<Real> some(rows, width);
    const auto all_gradients = random<Real>(rows * width, "of all rows");
    for (const bool dense : {false, true}) {
      for (const bool chosen : {false, true}) {
        for (const bool momentum : {false, true}) {
          INFO("width " << width << (dense ? ", dense" : "") << (chosen ? ", chosen" : "") << (momentum ? ", mu" : ""));
          const int64_t count = (chosen ? static_cast<int64_t>(some.touched.size()) : rows) * width;
          const auto with = [&](auto run) {
            return moved<Real>(rows * width, [&](auto& at, int) {
              SgdStep<Real> step{at[0].data(), momentum ? at[1].data() : nullptr, {},        {},
                                 Real(0.1),    Real(momentum ? 0.9 : 0),          Real(0.01)};
              step.gradient = {dense ? all_gradients.data() : some.gradient.data(), dense ? nullptr : some.slot.data(),
                               width};
              step.entries = {chosen ? some.touched.data() : nullptr, width};
              run(step);
            });
          };
          const auto plain = with([&](const auto& step) {
            for (int64_t i = 0; i < count; ++i) step(i);
          });
          CHECK(with([&](const auto& step) { cpu_table<TrainingKernels<Real>>().sgd_step(count, step); }) == plain);
        }
      }
    }
  }
}

TEMPLATE_TEST_CASE("inner_products and sum_rows agree with plain sums with every instruction set", "[kernels]", float,
                   double) {
  using Real = TestType;
  const std::vector<int64_t> index{4, 1, 9, 9, 2, 7, 4}, order{6, 0, 3, 1, 5, 2, 4};
  const auto n = static_cast<int64_t>(index.size());
  for (const int64_t width : widths) {
    const auto matrix = random<Real>(9 * width, "rows"), vector = random<Real>(width, "vector"),
               weights = random<Real>(n, "weights");
    std::vector<Real> products, sums(width), sums_in_order(width), first, first_in_order;
    for (int64_t k = 0; k < n; ++k) {
      double total = 0;
      const Real w = weights[order[k]];
      for (int64_t c = 0; c < width; ++c) {
        const Real x = matrix[(index[k] - 1) * width + c];
        total += double{x} * double{vector[c]};
        sums[c] += weights[k] * x;
        sums_in_order[c] += w * x;
      }
      products.push_back(static_cast<Real>(total));
    }
    for (const auto& [name, loops] : all_loops<Real>()) {
      INFO(name << ", width " << width);
      std::vector<Real> found(n), added(width, 5), added_in_order(width, 5);
      loops.inner_products(vector.data(), {matrix.data(), index.data(), nullptr, nullptr, n, width}, found.data());
      near(found, products, std::sqrt(static_cast<double>(width)));
      loops.sum_rows({matrix.data(), index.data(), weights.data(), nullptr, n, width}, added.data());
      near(added, sums);
      loops.sum_rows({matrix.data(), index.data(), weights.data(), order.data(), n, width}, added_in_order.data());
      near(added_in_order, sums_in_order);
      if (first.empty()) first = added, first_in_order = added_in_order;
      CHECK(added == first);
      CHECK(added_in_order == first_in_order);
    }
  }
}
