// MOONRANK_SIMD chooses the instruction set: forced sets give the same results, and unknown sets are refused.
#include <string>

#include <catch2/catch.hpp>

#include "tests/support/command.h"
#include "tests/support/says.h"

using mr::test::run;
using mr::test::says;

namespace {

const char* const script = R"(
  local x = mr.normal({500}, {seed = 1, dtype = 'float64'}):requires_grad()
  local y = {}
  for i = 1, 500 do y[i] = i % 3 == 0 and 1 or 0 end
  local ap = mr.smooth.ap(x, mr.lists{y})
  ap:backward()
  print(('%.11f %.11f'):format(ap:item(), x.grad:abs():sum():item()))
)";

mr::test::Ran with_simd(const char* name) {
  const mr::test::ScopedVariable simd("MOONRANK_SIMD", name);
  return run({"-e", script});
}

}  // namespace

TEST_CASE("mr.smooth.ap gives the same result with every instruction set of this processor") {
  const mr::test::Ran scalar = with_simd("scalar"), best = with_simd("");
  REQUIRE(scalar.status == 0);
  REQUIRE(scalar.out.size() > 20);
  CHECK(best.out == scalar.out);
  const mr::test::Ran avx2 = with_simd("avx2");
  if (avx2.status == 0) {
    CHECK(avx2.out == scalar.out);
  } else {
    CHECK_THAT(avx2.err, says("MOONRANK_SIMD", "'avx2'"));
  }
}

TEST_CASE("an unknown MOONRANK_SIMD raises an error that lists the known instruction sets") {
  const mr::test::Ran ran = with_simd("sse9");
  CHECK(ran.status == 1);
  CHECK_THAT(ran.err, says("MOONRANK_SIMD", "'sse9'", "'avx512'"));
}
