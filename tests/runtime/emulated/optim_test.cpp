// Tests that an optimizer step that runs out of GPU memory does not change the result of the next step.
#include "tests/support/emulated_gpu/driver.h"
#include "tests/support/lua_state.h"

namespace mr {
namespace {

int left_of(lua_State* L) {
  test::driver_of(cuda::gpu()).run_out_of_memory_after(lua_tointegerx(L, 1, nullptr));
  return 0;
}

TEST_CASE("an optimizer step that runs out of GPU memory changes nothing, now or in the next step", "[cuda][optim]") {
  test::LuaState L;
  lua_getfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
  lua_pushcfunction(L, &left_of);
  lua_setfield(L, -2, "memory_left");
  CHECK(L.error_of(R"(
    local function index(t) return mr.tensor(t, { dtype = "int64", device = "cuda" }) end
    local function values(seed) return mr.uniform({ 7, 3 }, { dtype = "float64", seed = seed, device = "cuda" }) end
    local function start(name, options)
      local p, q = values(1):detach():requires_grad(), values(2):detach():requires_grad()
      local optimizer = mr.optim[name](options):bind{ p, q }
      local function collect(rows)
        optimizer:zero_grad()
        local loss = (p:rows(index(rows)) * 2):sum() + (q:rows(index(rows)) * 3):sum()
        loss:backward()
      end
      return optimizer, collect, function() return { p:totable(), q:totable() } end
    end
    local function same(a, b)
      for k = 1, 2 do
        for row = 1, 7 do
          for column = 1, 3 do
            if a[k][row][column] ~= b[k][row][column] then return false end
          end
        end
      end
      return true
    end
    local memory_left, failed = require "memory_left", 0
    for _, case in ipairs{ { "adam", { lr = 0.1 } }, { "adam", { lr = 0.1, sparse = true } },
      { "sgd", { lr = 0.1, momentum = 0.9 } }, { "sgd", { lr = 0.1, weight_decay = 0.5 } } } do
      local name, options = table.unpack(case)
      for allowed = 0, 60 do
        local optimizer, collect, found = start(name, options)
        local other, collect_other, expected = start(name, options)
        for _, each in ipairs{ { optimizer, collect }, { other, collect_other } } do
          each[2]{ 5 }
          each[1]:step()
        end
        collect{ 1, 2, 3 }
        memory_left(allowed)
        local done = pcall(optimizer.step, optimizer)
        memory_left(-1)
        if done then
          collect_other{ 1, 2, 3 }
          other:step()
        end
        assert(same(found(), expected()), ("%s: a step with %d allocations is half done"):format(name, allowed))
        for _, each in ipairs{ { optimizer, collect }, { other, collect_other } } do
          each[2]{ 7, 4 }
          each[1]:step()
        end
        assert(same(found(), expected()),
          ("%s: rows of a step with %d allocations move in the next"):format(name, allowed))
        if done then break end
        failed = failed + 1
        assert(allowed < 60, "memory never sufficed")
      end
    end
    assert(failed > 4, "no step ran out of memory")
  )") == "");
}

}  // namespace
}  // namespace mr
