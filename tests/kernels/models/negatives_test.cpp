// Compares the drawn negatives of every instruction set with an enumeration of the items that a user does not have.
#include "kernels/models/negatives.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/simd_forms.h"

namespace mr {
namespace {

/// Items that a user has, ascending, spread over the catalogue by a linear congruence.
std::vector<bool> has_items(int64_t all_items, int64_t count) {
  std::vector<bool> has(static_cast<size_t>(all_items));
  for (int64_t i = 0, item = 3; i < count; ++i) {
    item = (item * 7 + 5) % all_items;
    while (has[item]) item = (item + 1) % all_items;
    has[item] = true;
  }
  return has;
}

/// The unknown items below each of the user's items, followed by padding.
std::vector<int32_t> gaps_of(const std::vector<bool>& has) {
  std::vector<int32_t> gaps;
  int32_t unknown = 0;
  for (const bool own : has) {
    if (own) {
      gaps.push_back(unknown);
    } else {
      ++unknown;
    }
  }
  gaps.resize(gaps.size() + cpu::gaps_padding, std::numeric_limits<int32_t>::max());
  return gaps;
}

TEST_CASE("all instruction sets draw the same negatives, which are items that the user does not have", "[kernels]") {
  const auto [all_items, known] = GENERATE(table<int64_t, int64_t>({{1000, 0},
                                                                    {1000, 1},
                                                                    {1000, 31},
                                                                    {1000, 48},
                                                                    {1000, 49},
                                                                    {1000, 64},
                                                                    {1000, 65},
                                                                    {1000, 129},
                                                                    {1000, 999},
                                                                    {3000, 1000},
                                                                    {50000, 2999},
                                                                    {50000, 49990}}));
  CAPTURE(all_items, known);
  const std::vector<bool> has = has_items(all_items, known);
  const std::vector<int32_t> gaps = gaps_of(has);
  std::vector<int64_t> unknown;
  for (int64_t item = 0; item < all_items; ++item) {
    if (!has[item]) unknown.push_back(item + 1);
  }
  const UniformDraws draws(random_key(3, "draws"), 5, 17, unknown.size());
  for (const auto& [name, loops] : simd_forms<cpu::NegativeLoops>()) {
    for (const int64_t first : {0, 64, 960}) {
      for (const int64_t count : {1, 31, 32, 33, 64}) {
        CAPTURE(name, first, count);
        std::vector<int32_t> ranks(static_cast<size_t>(count));
        draws.write(first, count, ranks.data());
        std::vector<int64_t> found(static_cast<size_t>(count) + 1, -1), expected;
        for (const int32_t rank : ranks) expected.push_back(unknown[rank]);
        expected.push_back(-1);  // nothing is written behind the last negative
        REQUIRE(loops.write(draws.state(), first, {gaps.data(), known}, count, found.data()));
        REQUIRE(found == expected);
      }
    }
  }
}

TEST_CASE("the loop reports integers that must be drawn again", "[kernels]") {
  // 2^32 mod n is about a third of 2^32, so a third of all integers is drawn again
  const uint64_t n = (uint64_t{1} << 32) / 3 + 1;
  const UniformDraws::State often = UniformDraws(random_key(1, "draws"), 0, 0, n).state();
  REQUIRE(often.least() > uint64_t{1} << 30);
  for (const auto& [name, loops] : simd_forms<cpu::NegativeLoops>()) {
    CAPTURE(name);
    std::vector<int64_t> out(cpu::negatives_block);
    const int32_t none = std::numeric_limits<int32_t>::max();
    CHECK_FALSE(loops.write(often, 0, {&none, 0}, 64, out.data()));
  }
}

TEST_CASE("all instruction sets compute the random bits of several places", "[kernels]") {
  const RandomKey key = random_key(4, "bits");
  std::vector<uint64_t> blocks, steps;
  for (uint64_t i = 0; i < 24; ++i) {
    blocks.push_back(i * 0x123456789ULL);
    steps.push_back((uint64_t{1} << 40) * (i % 3) + i);
  }
  for (const auto& [name, loops] : simd_forms<cpu::NegativeLoops>()) {
    CAPTURE(name);
    std::vector<Random128> out(24);
    loops.random(key, blocks.data(), steps.data(), 24, out.data());
    for (size_t i = 0; i < 24; ++i) {
      const Random128 expected = philox(key, blocks[i], steps[i]);
      CAPTURE(i);
      CHECK((out[i].low() == expected.low() && out[i].high() == expected.high()));
    }
  }
}

TEST_CASE("all instruction sets find how many items precede a rank, or say that it is far from the guess",
          "[kernels]") {
  const int64_t size = GENERATE(0, 1, 31, 32, 33, 129);
  const std::vector<bool> has = has_items(400, size);
  const std::vector<int32_t> gaps = gaps_of(has);
  for (const auto& [name, loops] : simd_forms<cpu::NegativeLoops>()) {
    for (int32_t rank = 0; rank < 400 - size; ++rank) {
      const int64_t expected = std::count_if(gaps.begin(), gaps.end(), [&](int32_t gap) { return gap <= rank; });
      for (int64_t guess = 0; guess < std::max<int64_t>(size, 1); ++guess) {
        const int64_t found = loops.items_before({gaps.data(), size}, rank, guess);
        const bool must_find = size <= 32 || std::abs(guess - expected) < 16;
        if (found == expected || (found == -1 && !must_find)) continue;
        CAPTURE(name, rank, guess, found, expected);
        FAIL("wrong number of items");
      }
    }
  }
  SUCCEED();
}

}  // namespace
}  // namespace mr
