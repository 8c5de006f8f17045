// Runs a representative script in a Lua state whose allocator fails from the n-th request on, for every n. Each run
// must end with a Lua error or with the right result, without a crash or a leak.
#include <cstdlib>
#include <limits>

#include "runtime/autograd/node.h"
#include "tests/support/lua_state.h"
#include "tests/support/temporary_folder.h"

namespace mr {
namespace {

using test::LuaState;

constexpr int64_t never = std::numeric_limits<int64_t>::max();

struct Budget {
  int64_t left = never;  // number of allocations that still succeed
  bool once = false;     // true if only one allocation fails: Lua then collects garbage and asks again, which succeeds
  int64_t bytes = 0;
};

void* allocate(void* data, void* block, size_t old_size, size_t new_size) {
  auto& budget = *static_cast<Budget*>(data);
  const auto old_bytes = static_cast<int64_t>(block == nullptr ? 0 : old_size);
  if (new_size == 0) {
    budget.bytes -= old_bytes;
    std::free(block);
    return nullptr;
  }
  // only growing a block may fail: Lua relies on it that shrinking succeeds
  if (block == nullptr || new_size > old_size) {
    if (budget.left <= 0) {
      if (budget.once) budget.left = never;
      return nullptr;
    }
    if (budget.left != never) --budget.left;
  }
  void* const moved = std::realloc(block, new_size);
  if (moved != nullptr) budget.bytes += static_cast<int64_t>(new_size) - old_bytes;
  return moved;
}

const char* const script = R"lua(
  local path = ...
  local x = mr.tensor({ { 1, 2 }, { 3, 4 } }, { dtype = "float64" }):requires_grad()
  local y = ((x * 2 + 1):matmul(x:t()) / 7):sum(1)
  y:sum():backward()
  local shape, text = x:shape(), tostring(y) .. core.numbers(x.grad)[4]
  local names, tensors, keys, values = core.load_tensors(path, "moonrank model")
  local lists = mr.lists{ relevance = { 1, 0, 2 }, ids = { "a", "a", "b" }, documents = { "p", "q", "r" } }
  local scores = lists:softmax(mr.tensor{ 1, 2, 3 })
  local messages = {}
  for i, f in ipairs{ function() return x + mr.ones(3) end, function() return x.nothing end,
    function() return mr.ones("a") end, function() return x:sum("a") end, function() error({}) end } do
    local ok, message = pcall(f)
    assert(not ok)
    messages[i] = type(message) == "string" and #message or 0
  end
  local untracked = mr.no_grad(function() return (x * 2).tracked end)
  local described = core.describe(core.lists)
  local user, item = mr.tensor({ 1, 1, 2, 2 }, { dtype = "int64" }), mr.tensor({ 1, 2, 2, 3 }, { dtype = "int64" })
  local positives = core.positives(user, item, mr.ones(4), user, user, 2, 9, 1, 2, false)
  local fold = core.make_fold(positives, 'user', 2, 1, 1, 0.1, 1, 1, 0.2)
  return shape[2] == 2 and #text > 20 and #names == 2 and tensors[2]:size(1) == 3 and keys[1] == "key"
    and values[1] == "value" and lists.ids[2] == "b" and #lists.documents == 3 and scores:size(1) == 3
    and #messages == 5 and messages[1] > 10
    and untracked == false and described.name == "lists" and #fold.train.lists == 2 and #fold.test.users == 2
    and fold.short_users == 0
)lua";

/// Runs the script with `grant` successful allocations. Returns 1 if its result is right, 0 if it ended with an error,
/// and -1 if its result is wrong.
int outcome(LuaState& L, Budget& budget, const std::string& path, int64_t grant, bool once) {
  L.run("");  // runs an empty chunk first, so that leftovers of the previous run do not count as this run's
  L.load(script);
  lua_pushlstring(L, path.data(), path.size());
  budget.once = once;
  budget.left = grant;
  const int status = lua_pcall(L, 1, 1, 0);
  budget.left = never;
  set_recording(true);
  const int result = status != LUA_OK ? 0 : lua_toboolean(L, -1) != 0 ? 1 : -1;
  if (status == LUA_ERRMEM) {
    CHECK(std::string(lua_tostring(L, -1)) == "not enough memory");
  }
  lua_settop(L, 0);
  return result;
}

void every_request(bool once) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "x").string();
  Budget budget;
  {
    LuaState L(&allocate, &budget);
    L.run("core.save_tensors('" + path +
          "', 'moonrank model 1', {'a', 'b'}, {mr.ones(2), mr.ones(3)}, {'key'}, {'value'})");
    REQUIRE(outcome(L, budget, path, never, false) == 1);
    L.collect();
    const int64_t held = Storage::held(Device::cpu);
    int errors = 0;
    bool complete = false;
    for (int64_t n = 0; !complete; ++n) {
      const int result = outcome(L, budget, path, n, once);
      if (result < 0 || (once && result == 0)) FAIL("request " << n << " gave " << result);
      if (result == 0) ++errors;
      L.collect();
      if (Storage::held(Device::cpu) != held) FAIL("request " << n << " leaked tensors");
      // A run may succeed in spite of failed allocations, because a garbage collection made room. A success alone does
      // not show that all allocations were granted.
      complete = once ? n >= 2000 : n > 100 && result == 1;
    }
    if (!once) CHECK(errors > 100);
    REQUIRE(outcome(L, budget, path, never, false) == 1);
  }
  CHECK(budget.bytes == 0);
}

TEST_CASE("a Lua script gets an error and leaks nothing if allocations fail from any request on", "[lua][memory]") {
  every_request(false);
}

TEST_CASE("a Lua script succeeds if any one allocation succeeds only after a garbage collection", "[lua][memory]") {
  every_request(true);
}

int open_and_close(lua_State* L) {
  lua::open(L);
  return luaL_dostring(L, "return require 'moonrank'.ones(2)") == LUA_OK ? 0 : lua_error(L);
}

TEST_CASE("opening a Lua state raises an error and leaks nothing if allocations fail from any request on",
          "[lua][memory]") {
  const int64_t held = Storage::held(Device::cpu);
  bool complete = false;
  int errors = 0;
  // Each of the first numbers of successful allocations is tried, later every second, then every third, and so on.
  for (int64_t n = 0; !complete; n += 1 + n / 150) {
    Budget budget;
    budget.left = n;
    lua_State* const L = lua_newstate(&allocate, &budget);
    if (L != nullptr) {
      lua_pushcfunction(L, &open_and_close);
      complete = lua_pcall(L, 0, 0, 0) == LUA_OK;
      if (!complete) ++errors;
      lua_close(L);
    }
    if (budget.bytes != 0 || Storage::held(Device::cpu) != held) FAIL("request " << n << " leaked");
  }
  CHECK(errors > 100);
}

}  // namespace
}  // namespace mr
