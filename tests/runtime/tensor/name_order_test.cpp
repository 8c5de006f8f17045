#include "runtime/tensor/name_order.h"

#include <algorithm>
#include <numeric>

#include <catch2/catch.hpp>

TEST_CASE("name_order orders names by their bytes, equal names by position") {
  const std::vector<std::string> names = {"document12",          "b",       "document1", "",        "\xFF", "a",
                                          std::string("a\0", 2), "aa",      "b",         "documen", "",     "\x7F",
                                          "document12",          "document"};
  std::vector<int64_t> expected(names.size());
  std::iota(expected.begin(), expected.end(), 0);
  std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
    return std::lexicographical_compare(
        names[a].begin(), names[a].end(), names[b].begin(), names[b].end(),
        [](char x, char y) { return static_cast<unsigned char>(x) < static_cast<unsigned char>(y); });
  });
  const mr::Names together(names);
  CHECK(mr::name_order(together) == expected);
  CHECK(mr::name_order(mr::Names()).empty());
}
