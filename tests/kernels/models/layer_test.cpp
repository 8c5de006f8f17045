// Tests that fully connected layers have the bits of the plain kernels with every instruction set of this processor.
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/models/layer_cpu.h"
#include "tests/support/random_entries.h"
#include "tests/support/simd_forms.h"

using namespace mr;
using test::random;

namespace {

template <class Real>
Span<Real> span(std::vector<Real>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}
template <class Real>
Span<const Real> span(const std::vector<Real>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

constexpr int64_t rows = 77, widths[] = {1, 7, 16, 33, 46};

}  // namespace

TEMPLATE_TEST_CASE("LayerLoops forward has the bits of the plain kernel with every instruction set", "[kernels]", float,
                   double) {
  using Real = TestType;
  for (const int64_t width : widths) {
    const auto z = random<Real>(rows * width, "z"), bias = random<Real>(width, "bias");
    for (const Activation activation : {Activation::none, Activation::relu}) {
      std::vector<Real> plain = z;
      for (int64_t row = 0; row < rows; ++row)
        LayerForward<Real>{span(plain), span(bias), activation}(SerialGroup{}, row);
      for (const auto& [name, loops] : simd_forms<cpu::LayerLoops<Real>>()) {
        INFO(name << ", width " << width);
        std::vector<Real> fast = z;
        const LayerForward<Real> work{span(fast), span(bias), activation};
        loops.forward(work, 0, 5);
        loops.forward(work, 5, rows);
        CHECK(fast == plain);
      }
    }
  }
}

TEMPLATE_TEST_CASE("LayerLoops derivatives have the bits of the plain kernel with every instruction set", "[kernels]",
                   float, double) {
  using Real = TestType;
  const int64_t pieces = (rows + LayerVjp<Real>::piece_rows - 1) / LayerVjp<Real>::piece_rows;
  for (const int64_t width : widths) {
    const auto y = random<Real>(rows * width, "y"), upstream = random<Real>(rows * width, "upstream");
    for (const Activation activation : {Activation::none, Activation::relu, Activation::tanh, Activation::sigmoid}) {
      struct Result {
        std::vector<Real> dz;
        std::vector<double> sums;
      };
      const auto made = [&](const auto& run) {
        Result r{std::vector<Real>(rows * width, 5), std::vector<double>(pieces * width, 5)};
        run(LayerVjp<Real>{span(y), span(upstream), span(r.dz), span(r.sums), rows, width, activation});
        return r;
      };
      const Result plain = made([&](const auto& work) {
        for (int64_t piece = 0; piece < pieces; ++piece) work(SerialGroup{}, piece);
      });
      for (const auto& [name, loops] : simd_forms<cpu::LayerLoops<Real>>()) {
        INFO(name << ", width " << width);
        const Result fast = made([&, loops = loops](const auto& work) {
          loops.vjp(work, 0, 1);
          loops.vjp(work, 1, pieces);
        });
        CHECK(fast.dz == plain.dz);
        CHECK(fast.sums == plain.sums);
      }
    }
  }
}
