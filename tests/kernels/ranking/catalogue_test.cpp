// Compares the kernel that lists a catalogue's items with sets of items, and the ranks of a few chosen rows with the
// ranks of all rows. Each runs on one lane and on emulated GPU lanes.
#include "kernels/ranking/catalogue.h"

#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"
#include "tests/support/emulated_group.h"

using namespace mr;

namespace {

template <class T>
Span<const T> view(const std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

template <class T>
Span<T> view(std::vector<T>& v) {
  return {v.data(), static_cast<int64_t>(v.size())};
}

/// Runs a kernel for each list on one lane, on a warp and on a block of emulated lanes, and checks that the results are
/// equal.
template <class T, class Work>
void run(int64_t count, std::vector<T>& out, const Work& work) {
  std::vector<T> lanes = out, warp = out;
  for (int64_t list = 0; list < count; ++list) {
    work(view(out))(SerialGroup{}, list);
    work(view(lanes))(test::EmulatedGroup(), list);
    work(view(warp))(test::EmulatedGroup(32, test::Order::backward), list);
  }
  const auto same = [](const std::vector<T>& a, const std::vector<T>& b) {
    return a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(T)) == 0;
  };
  REQUIRE(same(out, lanes));
  REQUIRE(same(out, warp));
}

}  // namespace

TEST_CASE("CatalogueItems lists every item of a catalogue except those left out", "[kernels]") {
  const int64_t all = GENERATE(0, 1, 2, 33, 200);
  // one of `of` items is left out of the catalogue; one list leaves out none and one leaves out all
  const int64_t of = GENERATE(1, 2, 5);
  std::vector<int64_t> offsets{0}, gaps{0}, left_out, expected;
  for (int64_t list = 0; list < 4; ++list) {
    for (int64_t item = 1; item <= all; ++item) {
      const uint64_t draw = philox(random_key(7, "catalogue"), static_cast<uint64_t>(item), list).low();
      if (list == 2 || (list != 1 && draw % static_cast<uint64_t>(of) == 0)) {
        left_out.push_back(item);
      } else {
        expected.push_back(item);
      }
    }
    offsets.push_back(static_cast<int64_t>(expected.size()));
    gaps.push_back(static_cast<int64_t>(left_out.size()));
  }
  std::vector<int64_t> items(expected.size(), -1);
  run(4, items, [&](Span<int64_t> out) {
    return CatalogueItems<double>{{offsets.data(), 4}, {gaps.data(), 4}, view(left_out), all, out};
  });
  REQUIRE(items == expected);
}

TEMPLATE_TEST_CASE("PlaceChosen gives chosen rows the same places as Place gives all rows", "[kernels]", float,
                   double) {
  const int64_t n = GENERATE(0, 1, 2, 31, 33, 129, 500);
  const int64_t levels = GENERATE(1, 6, 1000000);
  const std::vector<int64_t> offsets{0, n, n, 2 * n + 1};
  std::vector<TestType> scores;
  std::vector<float> relevance;
  std::vector<int32_t> rows;
  std::vector<int64_t> starts{0};
  for (int64_t list = 0; list < 3; ++list) {
    for (int64_t i = 0; i < offsets[list + 1] - offsets[list]; ++i) {
      const Random128 bits = philox(random_key(3, "chosen"), static_cast<uint64_t>(i), static_cast<uint64_t>(list));
      const auto level = static_cast<int64_t>(bounded(bits.low(), static_cast<uint64_t>(levels)));
      scores.push_back(level == 2 ? -std::numeric_limits<TestType>::infinity() : static_cast<TestType>(level));
      relevance.push_back(bits.high() % 5 == 0 ? 1.0F : bits.high() % 5 == 1 ? 0.5F : 0.0F);
      if (relevance.back() > 0) rows.push_back(static_cast<int32_t>(i));
    }
    starts.push_back(static_cast<int64_t>(rows.size()));
  }
  const Ragged lists{offsets.data(), 3};
  std::vector<Placement> all(scores.size()), some(scores.size(), {-1, -1, -1, -1, -1});
  const Chosen chosen{{starts.data(), 3}, rows.data()};
  run(3, some,
      [&](Span<Placement> out) { return PlaceChosen<TestType>{view(scores), view(relevance), lists, chosen, 1, out}; });
  for (int64_t list = 0; list < 3; ++list) {
    Place<TestType>{view(scores), view(relevance), {}, lists, 1, Ties::mean, view(all)}(SerialGroup{}, list);
    for (int64_t slot = 0; slot < chosen.size(list); ++slot) {
      const int64_t row = offsets[list] + chosen(list, slot);
      CAPTURE(n, levels, row);
      REQUIRE(some[row].above == all[row].above);
      REQUIRE(some[row].tied == all[row].tied);
      REQUIRE(some[row].relevant_above == all[row].relevant_above);
      REQUIRE(some[row].relevant_tied == all[row].relevant_tied);
    }
  }
  for (size_t row = 0; row < some.size(); ++row) REQUIRE((relevance[row] > 0 || some[row].above == -1));
}
