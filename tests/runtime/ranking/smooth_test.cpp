// Tests of the environment variable MOONRANK_SIMD, which chooses the instruction set: results are equal with each set,
// and names of unknown sets are refused.
#include <string>

#include <catch2/catch.hpp>

#include "kernels/core/simd/simd.h"
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

mr::test::Ran with_simd(const std::string& name) {
  const mr::test::ScopedVariable simd("MOONRANK_SIMD", name);
  return run({"-e", script});
}

}  // namespace

TEST_CASE("mr.smooth.ap gives the same result with every instruction set of this processor") {
  const mr::test::Ran best = with_simd("");
  REQUIRE(best.status == 0);
  REQUIRE(best.out.size() > 20);
  for (const mr::cpu::Simd set : mr::cpu::compiled_sets) {
    const std::string name = mr::cpu::simd_name(set);
    const mr::test::Ran forced = with_simd(name);
    if (mr::cpu::supports(set))
      CHECK(forced.out == best.out);
    else
      CHECK_THAT(forced.err, says("MOONRANK_SIMD", "'" + name + "'"));
  }
}

TEST_CASE("an unknown MOONRANK_SIMD raises an error that lists the known instruction sets") {
  const mr::test::Ran ran = with_simd("sse9");
  CHECK(ran.status == 1);
  for (const mr::cpu::Simd set : mr::cpu::compiled_sets)
    CHECK_THAT(ran.err, says("MOONRANK_SIMD", "'sse9'", std::string("'") + mr::cpu::simd_name(set) + "'"));
}
