#include "runtime/tensor/shape.h"

#include <catch2/catch.hpp>

namespace mr {
namespace {

TEST_CASE("Shape computes entries, strides and text", "[tensor]") {
  const Shape shape{2, 3, 4};
  CHECK(shape.entries() == 24);
  CHECK(shape.stride(0) == 12);
  CHECK(shape.stride(1) == 4);
  CHECK(shape.stride(2) == 1);
  CHECK(shape.without(1) == Shape{2, 4});
  CHECK(shape.text() == "{2, 3, 4}");
  CHECK(shape.front() == 2);
  CHECK(Shape{}.entries() == 1);
  CHECK(Shape{}.text() == "{}");
  CHECK(Shape{3, 0, 2}.entries() == 0);
  CHECK_FALSE(Shape{2} == Shape{2, 1});
}

TEST_CASE("Shape refuses too large, negative and too many sizes, also if one size is 0", "[tensor]") {
  const int64_t big = int64_t{1} << 40;
  CHECK_THROWS_WITH((Shape{big, big}.entries()), Catch::Contains("{1099511627776, 1099511627776}"));
  CHECK_THROWS((Shape{0, big, big}.entries()));
  CHECK_THROWS((Shape{big, big, 0}.entries()));
  CHECK(Shape{0, big}.entries() == 0);
  CHECK_THROWS_WITH((Shape{1, -2}), Catch::Contains("-2"));
  CHECK_THROWS_WITH((Shape{1, 1, 1, 1, 1, 1, 1}), Catch::Contains("6 dimensions"));
}

}  // namespace
}  // namespace mr
