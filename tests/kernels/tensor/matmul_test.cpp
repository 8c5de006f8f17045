// Compares matrix products with plain loops in float64, for every instruction set of this processor.
#include "kernels/tensor/matmul.h"

#include <cmath>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/threads.h"
#include "tests/support/random_entries.h"
#include "tests/support/simd_forms.h"

using namespace mr;
using test::random;

namespace {

template <class Real>
using Multiply = void (*)(const cpu::Product<Real>&);

/// Test input: the matrices of one product, each transposed or not, with `gap` unused entries between its rows.
template <class Real>
struct Case {
  int64_t m, n, k, gap;
  bool transpose_a, transpose_b;
  int64_t stride_a = (transpose_a ? m : k) + gap, stride_b = (transpose_b ? k : n) + gap, stride = n + gap;
  std::vector<Real> a = random<Real>((transpose_a ? k : m) * stride_a, "a");
  std::vector<Real> b = random<Real>((transpose_b ? n : k) * stride_b, "b");
  std::vector<Real> c = random<Real>(m * stride, "c");

  cpu::Product<Real> product(bool add) {
    return {{a.data(), stride_a, transpose_a},
            {b.data(), stride_b, transpose_b},
            m,
            n,
            k,
            c.data(),
            stride,
            Real(0.5),
            add};
  }
  double expected(int64_t i, int64_t j, bool add) const {
    double sum = 0;
    for (int64_t l = 0; l < k; ++l) {
      sum += static_cast<double>(transpose_a ? a[l * stride_a + i] : a[i * stride_a + l]) *
             (transpose_b ? b[j * stride_b + l] : b[l * stride_b + j]);
    }
    return (add ? c[i * stride + j] : 0) + 0.5 * sum;
  }
};

template <class Real>
void check_case(Multiply<Real> multiply, Case<Real> given, bool add) {
  const Case<Real> before = given;
  multiply(given.product(add));
  const double room = (sizeof(Real) == 4 ? 1e-6 : 1e-15) * (2 + static_cast<double>(given.k));
  bool right = true, untouched = true;
  for (int64_t i = 0; i < given.m; ++i) {
    for (int64_t j = 0; j < given.stride; ++j) {
      const Real found = given.c[i * given.stride + j];
      if (j < given.n) {
        right = right && std::fabs(found - before.expected(i, j, add)) <= room;
      } else {
        untouched = untouched && found == before.c[i * given.stride + j];
      }
    }
  }
  CHECK(right);
  CHECK(untouched);
}

}  // namespace

TEMPLATE_TEST_CASE("matmul agrees with plain loops with every instruction set, transposition and row stride", "", float,
                   double) {
  const int64_t size = GENERATE(1, 2, 31, 33, 127);
  const int64_t inner = GENERATE(0, 1, 32, 129);
  const bool transpose_a = GENERATE(false, true), transpose_b = GENERATE(false, true);
  for (const auto& [name, form] : simd_forms<cpu::ProductLoops<TestType>>()) {
    INFO(name << " " << size << " " << inner << " " << transpose_a << transpose_b);
    check_case<TestType>(form.multiply, {size, 17, inner, 0, transpose_a, transpose_b}, false);
    check_case<TestType>(form.multiply, {7, size, inner, 3, transpose_a, transpose_b}, true);
  }
}

TEMPLATE_TEST_CASE("matmul has the same bits for every number of threads", "", float, double) {
  const bool transpose_a = GENERATE(false, true), transpose_b = GENERATE(false, true);
  const int64_t m = 301, n = 47, k = 129;
  const auto a = random<TestType>(m * k, "a"), b = random<TestType>(k * n, "b");
  const int before = cpu::threads();
  std::vector<std::vector<TestType>> found;
  for (const int threads : {1, 2, 3}) {
    cpu::set_threads(threads);
    found.emplace_back(static_cast<size_t>(m * n));
    cpu::matmul(transpose_a, transpose_b, m, n, k, a.data(), b.data(), found.back().data());
  }
  cpu::set_threads(before);
  CHECK(found[0] == found[1]);
  CHECK(found[0] == found[2]);
  double sum = 0;
  for (int64_t l = 0; l < k; ++l)
    sum += static_cast<double>(transpose_a ? a[l * m + 300] : a[300 * k + l]) *
           (transpose_b ? b[46 * k + l] : b[l * n + 46]);
  CHECK(found[0].back() == Approx(sum).margin(1e-4));
}

TEMPLATE_TEST_CASE("matmul with a long inner dimension has the same bits for every number of threads", "", float,
                   double) {
  // Sizes on both sides of the limits (at most 64 rows, sums of at least 2,048 terms) at which threads share the blocks
  // of a sum, and inner dimensions that are no multiple of the block.
  const int64_t m = GENERATE(1, 8, 46, 64, 65), n = GENERATE(1, 8, 33), k = GENERATE(2047, 2048, 16385);
  const bool transpose_b = GENERATE(false, true);
  const auto a = random<TestType>(m * k, "a"), b = random<TestType>(k * n, "b");
  const int before = cpu::threads();
  std::vector<std::vector<TestType>> found;
  for (const int threads : {1, 2, 7}) {
    cpu::set_threads(threads);
    found.emplace_back(static_cast<size_t>(m * n));
    cpu::matmul(true, transpose_b, m, n, k, a.data(), b.data(), found.back().data());
  }
  cpu::set_threads(before);
  CHECK(found[0] == found[1]);
  CHECK(found[0] == found[2]);
  double sum = 0;
  for (int64_t l = 0; l < k; ++l)
    sum += static_cast<double>(a[l * m + m - 1]) * (transpose_b ? b[(n - 1) * k + l] : b[l * n + n - 1]);
  CHECK(found[0].back() == Approx(sum).margin(1e-3));
}
