// Tests of garbage collection. For Lua a tensor is a small object, so Moonrank makes the bytes of tensors' data decide
// when Lua collects.
#include "tests/support/lua_state.h"
#include "tests/support/says.h"

namespace mr {
namespace {

using Catch::Matchers::Contains;
using test::LuaState;
using test::says;

TEST_CASE("creating and dropping 2,000 tensors of 1 MiB never holds more than 64 MiB", "[lua][memory]") {
  LuaState L;
  const int64_t before = Storage::held(Device::cpu);
  L.run(R"(
    local most = 0
    for _ = 1, 2000 do
      local x = core.full({ 1 << 17 }, 1, "float64")
      most = math.max(most, core.held_bytes())
    end
    return most
  )",
        1);
  const int64_t most = lua_tointeger(L, -1);
  CHECK(most - before < int64_t{64} << 20);
  // memory grows by more than 8 MiB in between: Lua does not collect garbage at every allocation
  CHECK(most - before > int64_t{8} << 20);
  L.collect();
  CHECK(Storage::held(Device::cpu) == before);
}

TEST_CASE("dropping an autograd graph in every step never holds more than 600 MiB", "[lua][memory]") {
  LuaState L;
  L.run(R"(
    local most = 0
    local x = core.full({ 1 << 17 }, 1, "float64"):requires_grad()
    for _ = 1, 300 do
      local y = ((x * 2):exp() + x):sum()
      y:backward()
      x:zero_grad()
      most = math.max(most, core.held_bytes())
    end
    return most
  )",
        1);
  CHECK(lua_tointeger(L, -1) < int64_t{600} << 20);
}

TEST_CASE("lists and tables of users' items count as memory, and are collected when dropped", "[lua][memory]") {
  LuaState L;
  const int64_t before = Storage::held(Device::cpu);
  L.run(R"(
    local relevance, sizes = core.full({ 1 << 20 }, 1, "float32"), { 1 << 20 }
    local start, most = core.held_bytes(), 0
    for _ = 1, 300 do
      local lists = core.lists(sizes, relevance, {}, {})
      most = math.max(most, core.held_bytes() - start)
    end
    local users, items = core.full({ 1 }, 1, "int64"), core.arange(1, 1 << 20, 1, "int64", "cpu")
    local lists = core.lists(sizes, relevance, {}, {})
    collectgarbage()
    local held = core.held_bytes()
    local table_of = core.user_items(lists, users, items, 1, 1 << 20)
    return most, core.held_bytes() - held
  )",
        2);
  CHECK(lua_tointeger(L, -2) >= int64_t{4} << 20);
  CHECK(lua_tointeger(L, -2) < int64_t{600} << 20);
  CHECK(lua_tointeger(L, -1) >= int64_t{12} << 20);
  L.collect();
  CHECK(Storage::held(Device::cpu) == before);
}

TEST_CASE("a tensor too large for memory raises an error and leaks nothing", "[lua][memory]") {
  LuaState L;
  const int64_t before = Storage::held(Device::cpu);
  const std::string message = L.error_of("return mr.zeros(1 << 40)");
  CHECK_THAT(message, says("out of memory", "4194304.0 MiB", "cpu"));
  CHECK_THAT(L.error_of("return mr.zeros(1 << 20, 1 << 20)"), Contains("out of memory"));
  CHECK_THAT(L.error_of("return mr.ones(1 << 20, 1) + mr.ones(1, 1 << 20)"), Contains("out of memory"));
  CHECK_THAT(L.error_of("return mr.zeros(1 << 62)"), Contains("large"));
  CHECK(L.error_of("assert(mr.ones(3):sum():item() == 3)").empty());
  L.collect();
  CHECK(Storage::held(Device::cpu) == before);
}

}  // namespace
}  // namespace mr
