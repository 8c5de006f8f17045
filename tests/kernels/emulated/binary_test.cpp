// Compares elementwise functions of two operands on the GPU with plain loops on the CPU, bit for bit.
#include "kernels/tensor/binary.cuh"

#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/on_device.h"
#include "tests/support/random_entries.h"

namespace mr {
namespace {

using test::OnDevice;

TEMPLATE_TEST_CASE("functions of two operands on the GPU agree with the plain form", "[kernels][gpu]", float, double) {
  using Real = TestType;
  const int64_t n = GENERATE(0, 1, 3, 31, 32, 33, 127, 128, 129, 1000, 5000);
  // entries in front of the operands: one entry makes their addresses no multiples of 16 bytes
  const int64_t before = GENERATE(0, 1);
  const auto a = test::random<Real>(n + before, "a"), b = test::random<Real>(n + before, "b");
  const OnDevice<Real> a_there(a), b_there(b), out(n + before);
  for (const int64_t step_a : {0, 1}) {
    for (const int64_t step_b : {0, 1}) {
      Broadcast from_a, from_b;
      from_a.step = step_a;
      from_b.step = step_b;
      cuda::binary<Real, DivOf<Real>>(
          n, {{a_there.data() + before, n}, {b_there.data() + before, n}, {out.data() + before, n}, from_a, from_b});
      const std::vector<Real> found = out.values();
      int64_t wrong = 0;
      for (int64_t i = 0; i < n; ++i)
        wrong += found[before + i] == a[before + i * step_a] / b[before + i * step_b] ? 0 : 1;
      CHECK(wrong == 0);
    }
  }
}

}  // namespace
}  // namespace mr
