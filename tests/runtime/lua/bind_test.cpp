// Calls every C++ function that Lua can call with a wrong type in every position, which must be an error and never a
// crash. Also tests the binding code itself, with functions made for the test.
#include <functional>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/ops/lists.h"
#include "tests/support/lua_state.h"
#include "tests/support/says.h"

namespace mr {
namespace {

using Catch::Matchers::Contains;
using test::LuaState;
using test::says;

struct Value {
  const char* kind;
  std::function<void(lua_State*)> push;
};

int nothing(lua_State*) { return 0; }

/// Values of each kind that a script may pass to a function.
const std::vector<Value>& values() {
  static const std::vector<Value> all{
      {"nil", [](lua_State* L) { lua_pushnil(L); }},
      {"boolean", [](lua_State* L) { lua_pushboolean(L, 1); }},
      {"number", [](lua_State* L) { lua_pushnumber(L, 3.5); }},
      {"number", [](lua_State* L) { lua_pushnumber(L, std::numeric_limits<double>::quiet_NaN()); }},
      {"number", [](lua_State* L) { lua_pushnumber(L, 1e300); }},
      {"string", [](lua_State* L) { lua_pushstring(L, "7"); }},
      {"table of functions",
       [](lua_State* L) {
         lua_newtable(L);
         lua_pushcfunction(L, &nothing);
         lua_rawseti(L, -2, 1);
       }},
      {"table with a hole",
       [](lua_State* L) {
         lua_newtable(L);
         for (const int i : {1, 2, 4}) {
           lua_pushinteger(L, 1);
           lua_rawseti(L, -2, i);
         }
         lua_pushboolean(L, 1);
         lua_rawseti(L, -2, 3);
       }},
      {"function", [](lua_State* L) { lua_pushcfunction(L, &nothing); }},
      {"coroutine", [](lua_State* L) { lua_newthread(L); }},
      {"light userdata", [](lua_State* L) { lua_pushlightuserdata(L, L); }},
      {"plain userdata", [](lua_State* L) { lua_newuserdatauv(L, 0, 0); }},
      {"file", [](lua_State* L) { (lua_getglobal(L, "io"), lua_getfield(L, -1, "stdout"), lua_remove(L, -2)); }},
      {"mr.Tensor", [](lua_State* L) { lua_getglobal(L, "a_tensor"); }},
      {"mr.Lists", [](lua_State* L) { lua_getglobal(L, "some_lists"); }},
      {"closed", [](lua_State* L) { lua_getglobal(L, "closed_tensor"); }},
  };
  return all;
}

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

/// Returns true if a function accepts a value of this kind for the type. The test passes only values that do not fit,
/// so that the function is never run.
bool fits(const std::string& kind, std::string type) {
  if (ends_with(type, "?")) {
    if (kind == "nil") return true;
    type.pop_back();
  }
  if (ends_with(type, "|number")) return kind == "number" || kind + "|number" == type;
  if (ends_with(type, "[]")) return false;
  if (type == "table") return kind.rfind("table", 0) == 0;
  return kind == type;  // kinds are names, so 3.5, NaN and 1e300 do not fit an integer
}

void push_row(lua_State* L, const lua::OpRow& row) {
  lua_pushlightuserdata(L, const_cast<lua::OpRow*>(&row));  // NOLINT: as the module does
  lua_pushcclosure(L, row.function, 1);
}

/// Pushes a value that has the type, as far as the test has such values.
void push_right(lua_State* L, const std::string& type) {
  if (type.rfind("mr.Tensor", 0) == 0 && !ends_with(type, "[]")) {
    lua_getglobal(L, "a_tensor");
  } else if (type == "mr.Lists") {
    lua_getglobal(L, "some_lists");
  } else if (type == "number" || type == "integer") {
    lua_pushinteger(L, 1);
  } else if (type == "boolean") {
    lua_pushboolean(L, 0);
  } else if (type == "string") {
    lua_pushstring(L, "x");
  } else if (ends_with(type, "[]") || type == "table") {
    lua_newtable(L);
  } else {
    lua_pushnil(L);
  }
}

std::vector<std::string> arguments_of(const lua::OpRow& row) {
  std::vector<std::string> types = row.types();
  size_t n = 0;
  while (types[n] != "->") ++n;
  types.resize(n);
  return types;
}

template <class F>
void for_each_row(F f) {
  for (const lua::OpTable* const table : lua::op_tables()) {
    for (const lua::OpRow& row : table->rows) f(row);
  }
}

LuaState& shared_state() {
  static LuaState L;
  static const bool ready = [] {
    L.run(
        "rawset(_G, 'a_tensor', mr.ones(2, 2)) rawset(_G, 'some_lists', mr.lists{{1, 0}}) "
        "rawset(_G, 'closed_tensor', mr.ones(1)) do local _ <close> = closed_tensor end");
    return true;
  }();
  static_cast<void>(ready);
  return L;
}

TEST_CASE("every bound function raises an error if any argument has a wrong type", "[lua]") {
  LuaState& L = shared_state();
  int calls = 0, wrong = 0;
  for_each_row([&](const lua::OpRow& row) {
    const std::vector<std::string> types = arguments_of(row);
    for (size_t bad = 0; bad < types.size(); ++bad) {
      for (const Value& value : values()) {
        if (fits(value.kind, types[bad])) continue;
        push_row(L, row);
        for (size_t i = 0; i < types.size(); ++i) i == bad ? value.push(L) : push_right(L, types[i]);
        ++calls;
        const int status = lua_pcall(L, static_cast<int>(types.size()), 0, 0);
        const char* const message = status == LUA_ERRRUN ? lua_tostring(L, -1) : nullptr;
        if (message == nullptr || (std::string(message).find("expected, got") == std::string::npos &&
                                   std::string(message).find("used after it was closed") == std::string::npos)) {
          ++wrong;
          UNSCOPED_INFO(row.name << ", argument " << bad + 1 << " a " << value.kind << " for " << types[bad] << ": "
                                 << (message != nullptr ? message : "no error"));
        }
        lua_settop(L, 0);
      }
    }
  });
  CHECK(wrong == 0);
  CHECK(calls > 2000);
}

TEST_CASE("every bound function raises an error with too many arguments and with none", "[lua]") {
  LuaState& L = shared_state();
  for_each_row([&](const lua::OpRow& row) {
    const std::vector<std::string> types = arguments_of(row);
    CAPTURE(row.name);
    push_row(L, row);
    for (const std::string& type : types) push_right(L, type);
    lua_pushnil(L);
    REQUIRE(lua_pcall(L, static_cast<int>(types.size()) + 1, 0, 0) == LUA_ERRRUN);
    // for # and unary minus, Lua passes the operand twice, so these have no limit on arguments
    if (row.name[0] != '_' || types.size() > 1) {
      const size_t most = types.size() - (std::string_view(row.arguments).substr(0, 4) == "self" ? 1 : 0);
      CHECK_THAT(lua_tostring(L, -1), Contains(most == 0 ? "expected no arguments, got 1"
                                                         : "expected at most " + std::to_string(most) + " argument"));
      const std::string names = row.arguments;
      if (most > 0) CHECK_THAT(lua_tostring(L, -1), Contains(names.substr(names.rfind(' ') + 1) + "), got"));
    }
    lua_settop(L, 0);
    if (types.empty() || ends_with(types[0], "?")) return;
    push_row(L, row);
    REQUIRE(lua_pcall(L, 0, 0, 0) == LUA_ERRRUN);
    lua_settop(L, 0);
  });
}

TEST_CASE("every bound function names each of its arguments and has a docstring", "[lua]") {
  for_each_row([&](const lua::OpRow& row) {
    CAPTURE(row.name, row.arguments);
    const std::string names = row.arguments;
    size_t count = names.empty() ? 0 : 1;
    for (const char c : names) count += c == ',' ? 1 : 0;
    const std::vector<std::string> types = arguments_of(row);
    CHECK(count == types.size());
    CHECK(std::string(row.doc).size() > 4);
  });
}

TEST_CASE("integer arguments accept 3.0 but neither 3.5 nor strings", "[lua]") {
  LuaState& L = shared_state();
  CHECK(L.error_of("assert(a_tensor:size(2.0) == 2)").empty());
  CHECK_THAT(L.error_of("a_tensor:size(1.5)"), says("integer", "fraction"));
  CHECK_THAT(L.error_of("a_tensor:size('1')"), says("integer", "string"));
  CHECK_THAT(L.error_of("a_tensor:size(1e300)"), says("integer", "64 bits"));
  CHECK_THAT(L.error_of("a_tensor:size(0/0)"), says("integer", "NaN"));
  CHECK_THAT(L.error_of("a_tensor:size(-1/0)"), says("integer", "infinity"));
  CHECK_THAT(L.error_of("core.full({2, 2.5}, 0, 'float32')"), says("integers", "table"));
}

TEST_CASE("a closed tensor raises an error if it is used, and is not freed twice", "[lua]") {
  LuaState& L = shared_state();
  CHECK_THAT(L.error_of("return closed_tensor + 1"), says("mr.Tensor", "closed"));
  CHECK_THAT(L.error_of("return 1 + closed_tensor"), says("mr.Tensor", "closed"));
  CHECK_THAT(L.error_of("return closed_tensor.grad"), Contains("closed"));
  CHECK_THAT(L.error_of("return tostring(closed_tensor)"), Contains("closed"));
  CHECK_THAT(L.error_of("core.save_tensors('/nowhere/x', 'moonrank model 1', {'a'}, {closed_tensor}, {}, {})"),
             Contains("bad argument #4 'tensors'") && Contains("closed"));
  CHECK(L.error_of("do local _ <close> = closed_tensor end").empty());
  CHECK(L.error_of("mr.ones(1) collectgarbage() collectgarbage() collectgarbage('stop')").empty());
  const int64_t held = Storage::held(Device::cpu);
  CHECK(L.error_of("local x = mr.ones(1000) do local _ <close> = x end").empty());
  CHECK(Storage::held(Device::cpu) == held);  // closing a tensor frees its memory at once, without a garbage collection
  CHECK(L.error_of("collectgarbage('restart')").empty());
}

TEST_CASE("mr.Tensor's __gc does nothing if a script calls it with other values", "[lua]") {
  LuaState& L = shared_state();
  CHECK(L.error_of("local gc = core.classes['mr.Tensor'].meta.__gc "
                   "gc() gc(nil) gc(io.stdout) gc(some_lists) gc({}) assert(some_lists.count == 1)")
            .empty());
}

// Tests tables that contain themselves, have holes, or have rows of different lengths.
TEST_CASE("mr.tensor and mr.lists raise errors for recursive, ragged or nested tables", "[lua]") {
  LuaState& L = shared_state();
  CHECK_THAT(L.error_of("local t = {} t[1] = t mr.tensor(t)"), Contains("6 dimensions"));
  CHECK_THAT(L.error_of("mr.tensor{{}, {1}}"), says("1 entries", "has 0"));
  CHECK_THAT(L.error_of("mr.tensor{1, nil, 3}"), says("entry 2", "nil"));
  // fields are read without metamethods, which would call back into Lua
  CHECK(L.error_of("assert(#mr.tensor(setmetatable({1, 2}, {__index = error, __len = error})) == 2)").empty());
  CHECK_THAT(L.error_of("mr.lists{relevance = {1}, sizes = {{1}}}"), Contains("integers"));
}

// --- functions that only these tests bind

int attempts = 0;
int64_t fails_once() {
  if (++attempts == 1) throw std::bad_alloc();
  return attempts;
}
void always_out_of_memory() { throw std::bad_alloc(); }
void fails_plainly() { throw std::runtime_error("the reason"); }
void fails_with_argument(double a, double b) {
  static_cast<void>(a);
  throw ArgumentError("b", "b is " + std::to_string(b));
}
void fails_at_length() { throw std::runtime_error(std::string(5000, 'x')); }
#ifndef MR_LUA_CXX
void fails_oddly() { throw 3; }  // NOLINT: what must not escape
#endif
std::tuple<int64_t, std::string, Tensor, std::vector<Tensor>, std::optional<std::string>> many() {
  const Tensor x = Tensor::full({2}, 3, Dtype::float32);
  return {1, std::string("a\0b", 3), x, {x, x}, std::nullopt};
}
struct Part {
  Tensor rows;
  std::vector<std::string> ids;
  static constexpr auto fields = lua::fields("rows", &Part::rows, "ids", &Part::ids);
};
struct Named {
  double mean = 1.5;
  int64_t count = 2;
  bool exact = false;
  std::string text = std::string("a\0b", 3);
  Part train{Tensor::full({2}, 3, Dtype::float32), {"x", ""}};
  std::vector<Part> others{train};
  static constexpr auto fields = lua::fields("mean", &Named::mean, "count", &Named::count, "exact", &Named::exact,
                                             "text", &Named::text, "train", &Named::train, "others", &Named::others);
};
Named named() { return {}; }
std::tuple<std::optional<Named>, std::optional<Named>> named_or_not() { return {Named(), std::nullopt}; }
std::string echo(const std::string& text) { return text; }
std::optional<double> half(std::optional<double> x) { return x ? std::optional(*x / 2) : std::nullopt; }

template <auto F>
void make(LuaState& L, const char* name, const char* arguments) {
  static const lua::OpRow row = lua::op<F>(name, arguments, "made for a test");
  push_row(L, row);
  lua_setglobal(L, name);
}

TEST_CASE("bound functions return integers, strings, tensors, vectors and optional values to Lua", "[lua]") {
  LuaState L;
  make<&many>(L, "many", "");
  make<&echo>(L, "echo", "text");
  make<&half>(L, "half", "x?");
  CHECK(L.error_of(R"(
    local n, s, x, xs, none = many()
    assert(math.type(n) == "integer" and n == 1 and s == "a\0b" and x:totable()[2] == 3)
    assert(#xs == 2 and xs[2]:sum():item() == 6 and none == nil and select("#", many()) == 5)
    assert(echo("") == "" and echo("\0\xff") == "\0\xff" and #echo(("y"):rep(1e6)) == 1e6)
    assert(half(3) == 1.5 and half() == nil and half(nil) == nil and select("#", half()) == 1)
  )") == "");
}

TEST_CASE("a returned C++ struct with fields becomes a Lua table", "[lua]") {
  LuaState L;
  make<&named>(L, "named", "");
  make<&named_or_not>(L, "named_or_not", "");
  CHECK(L.error_of(R"(
    local function right(t)
      assert(t.mean == 1.5 and math.type(t.count) == "integer" and t.count == 2)
      assert(t.exact == false and t.text == "a\0b")
      assert(t.train.rows:sum():item() == 6 and #t.train.ids == 2 and t.train.ids[1] == "x")
      assert(#t.others == 1 and t.others[1].rows:size(1) == 2)
      local count = 0
      for _ in pairs(t) do count = count + 1 end
      assert(count == 6)
    end
    right(named())
    local some, none = named_or_not()
    right(some)
    assert(none == nil and select("#", named_or_not()) == 2 and select("#", named()) == 1)
  )") == "");
  const std::string part = "{ rows: mr.Tensor, ids: string[] }";
  const auto types = lua::op<&named>("named", "", "").types();
  CHECK(types ==
        std::vector<std::string>{"->", "{ mean: number, count: integer, exact: boolean, text: string, train: " + part +
                                           ", others: " + part + "[] }"});
}

TEST_CASE("every C++ exception becomes one Lua error", "[lua]") {
  LuaState L;
  make<&fails_plainly>(L, "fails_plainly", "");
  make<&fails_with_argument>(L, "fails_with_argument", "a, b");
  make<&fails_at_length>(L, "fails_at_length", "");
  make<&always_out_of_memory>(L, "always_out_of_memory", "");
  CHECK(L.error_of("fails_plainly()") == "test:1: fails_plainly: the reason");
  CHECK(L.error_of("fails_with_argument(1, 2)") ==
        "test:1: bad argument #2 'b' to 'fails_with_argument' (b is 2.000000)");
  CHECK(L.error_of("always_out_of_memory()") == "test:1: always_out_of_memory: out of memory");
  const std::string length = L.error_of("fails_at_length()");
  CHECK(length.size() > 500);
  CHECK(length.size() < 1200);
#ifndef MR_LUA_CXX
  make<&fails_oddly>(L, "fails_oddly", "");
  CHECK_THAT(L.error_of("fails_oddly()"), Contains("unknown C++ exception"));
#endif
  CHECK(L.error_of(
            "local ok, m = coroutine.resume(coroutine.create(fails_plainly)) assert(not ok and m:find 'the reason')") ==
        "");
}

TEST_CASE("a bound function that runs out of memory is retried once after a garbage collection", "[lua]") {
  LuaState L;
  make<&fails_once>(L, "fails_once", "");
  attempts = 0;
  const int64_t before = Storage::held(Device::cpu);
  L.run("collectgarbage 'stop' do local x = mr.ones(1000) end return fails_once()", 1);
  CHECK(lua_tointeger(L, -1) == 2);
  CHECK(Storage::held(Device::cpu) == before);
}

TEST_CASE("an error in a coroutine or in a metamethod names the script's line", "[lua]") {
  LuaState& L = shared_state();
  CHECK_THAT(L.error_of("\n\nlocal y = a_tensor + mr.ones(3)"), Contains("test:3: "));
  CHECK_THAT(L.error_of("\nlocal f = coroutine.wrap(function() local x = a_tensor:reshape(3) end)\nf()"),
             Contains("test:2: "));
}

}  // namespace
}  // namespace mr
