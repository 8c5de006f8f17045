// Compares ranks that are found by counting the rows above with those of a stable sort, for every instruction set of
// this processor.
#include "kernels/ranking/ranks.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "tests/support/simd_forms.h"

using namespace mr;

namespace {

auto all_loops() { return simd_forms<cpu::RankLoops>(); }

std::vector<int32_t> by_sorting(const std::vector<float>& scores) {
  std::vector<int32_t> order(scores.size()), places(scores.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return scores[a] > scores[b]; });
  for (size_t k = 0; k < order.size(); ++k) places[order[k]] = static_cast<int32_t>(k);
  return places;
}

}  // namespace

TEST_CASE("RankLoops count the ranks of a stable sort with every instruction set", "[kernels]") {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const auto& [name, loops] : all_loops()) {
    for (int64_t n = 0; n <= 260; n = n < 132 ? n + 1 : n + 61) {
      // number of different scores: 1 (all equal), 3, many; 0 stands for extreme values such as infinities and
      // denormals
      for (const uint64_t values : {uint64_t{1}, uint64_t{3}, uint64_t{1} << 40, uint64_t{0}}) {
        INFO(name << ", " << n << " scores of " << values);
        const float ends[] = {infinity, -infinity, 0.0F, -0.0F, 1e-45F};
        std::vector<float> scores;
        for (int64_t i = 0; i < n; ++i) {
          const uint64_t bits = philox(random_key(values, "ranks"), static_cast<uint64_t>(i), 0).low();
          scores.push_back(values == 0 ? ends[bits % 5] : static_cast<float>(bits % values) - 1);
        }
        std::vector<int32_t> places(scores.size());
        loops.count(scores.data(), n, places.data());
        CHECK(places == by_sorting(scores));
      }
    }
  }
}
