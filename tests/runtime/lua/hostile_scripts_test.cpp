// Tests that hostile scripts end in errors and never in a crash. They use objects of the module moonrank.core in legal
// but unintended ways, without Lua's library `debug`.
#include <cstdlib>

#include <catch2/catch.hpp>

#include "tests/support/command.h"

using Catch::Contains;
using mr::test::Ran;
using mr::test::run;

namespace {

/// Lua code that gets the metatable of tensors, to which the standard library adds methods.
const std::string metatable = "local meta = require 'moonrank.core'.classes['mr.Tensor'].meta ";

struct Script {
  std::string text, out;
};

const std::vector<Script>& scripts() {
  static const std::vector<Script> all = {
      // scripts that call the metamethods __gc and __close themselves
      {metatable + "meta.__gc(42) meta.__gc() meta.__gc(io.stdout) meta.__close({}, 3) meta.__gc(mr.lists{{1, 0}})",
       ""},
      {metatable + "local x = mr.ones(3) meta.__gc(x) meta.__close(x) print(pcall(tostring, x))",
       "false\t(command line):1: __tostring: mr.Tensor used after it was closed\n"},
      {metatable + "local x = mr.ones(3) meta.__gc(x) for _, f in ipairs{function() return x:shape() end, function() "
                   "return x + x "
                   "end, function() return x:sum() end, function() return mr.lists{{x}} end} do print((pcall(f))) end",
       "false\nfalse\nfalse\nfalse\n"},
      {"local x <close> = mr.ones(3) local y <close> = x", ""},
      {"local co = coroutine.create(function() local x <close> = mr.ones(3) coroutine.yield(x) end) "
       "local _, x = coroutine.resume(co) coroutine.close(co) print((pcall(tostring, x)))",
       "false\n"},
      // scripts whose finalizers make collected objects reachable again
      {"local kept do setmetatable({mr.ones(3)}, {__gc = function(s) kept = s[1] end}) end "
       "collectgarbage() collectgarbage() print((pcall(tostring, kept)))",
       "false\n"},
      // scripts whose finalizers collect garbage, allocate memory, raise errors, or run at the end of the program
      {"setmetatable({}, {__gc = function() collectgarbage() for i = 1, 100 do mr.ones(100000) end error {} end}) "
       "collectgarbage() for i = 1, 100 do mr.ones(300000) end",
       ""},
      {"setmetatable({}, {__gc = function() for i = 1, 100 do mr.ones(100000) end error {} end})", ""},
      {"setmetatable({mr.ones(3)}, {__gc = function(s) print(pcall(tostring, s[1])) end})",
       "true\t{1, 1, 1}  mr.Tensor {3} float32\n"},
      {"setmetatable({}, {__gc = function() mr.ones(3) end}) os.exit(true, true)", ""},
      {"local x = mr.ones(3) coroutine.wrap(function() os.exit(true, true) end)()", ""},
      {"pcall(function() os.exit(0, true) end)", ""},
      // scripts that remove a metatable's strings, so that error messages may refer to names that were collected
      {metatable + "meta.__name = nil collectgarbage() local s = {} for i = 1, 1000 do s[i] = ('y'):rep(9) .. i end "
                   "print(pcall(require 'moonrank.core'.ranking, 7, mr.lists{{1, 0}}, 'mean', 1))",
       "false\t(command line):1: bad argument #1 'scores' to 'ranking' (mr.Tensor expected, got number)\n"},
      {metatable + "meta.__name, meta.__index = nil, nil collectgarbage() local s = {} for i = 1, 1000 do s[i] = "
                   "('y'):rep(9) .. "
                   "i end print(pcall(require 'moonrank.core'.ranking, mr.ones(3), mr.ones(3), 'mean', 1))",
       "false\t(command line):1: bad argument #2 'lists' to 'ranking' (mr.Lists expected, got mr.Tensor)\n"},
      {metatable + "meta.__name = {} print(pcall(mr.ones(2).sum, io.stdout))",
       "false\t(command line):1: sum: mr.Tensor expected, got userdata. Write x:sum(...) with a colon\n"},
      // scripts that pass objects to functions for tables, or pass deeply nested tables
      {"for _, f in ipairs{rawset, setmetatable, rawget, rawlen, next, table.unpack, table.concat, table.sort, ipairs} "
       "do "
       "pcall(f, mr.ones(2), 'a', 1) end print(getmetatable(mr.ones(2)))",
       "false\n"},
      {"local t = {} for i = 1, 1000000 do t = {t} end print((pcall(mr.tensor, t))) print((pcall(mr.lists, t)))",
       "false\nfalse\n"},
      {"local t = {} t[1] = t print((pcall(mr.tensor, t))) print((pcall(mr.lists, t)))", "false\nfalse\n"},
      // scripts with infinite recursion
      {"local x = setmetatable({}, {__tostring = function(s) return tostring(s) end}) print(pcall(tostring, x))",
       "false\tC stack overflow\n"},
      {"local m = {} m.__index = function(s, k) return s[k] end print((pcall(function() return setmetatable({}, m).x "
       "end)))",
       "false\n"},
      {"local function f() return coroutine.wrap(f)() end print((pcall(f)))", "false\n"},
      {"local m = {} m.__close = function() local x <close> = setmetatable({}, m) end "
       "print((pcall(function() local x <close> = setmetatable({}, m) end)))",
       "false\n"},
      {"local co co = coroutine.wrap(function() co() end) print((pcall(co)))", "false\n"},
      // scripts that cause very long error messages
      {"local s = ('x'):rep(10000000) for _, f in ipairs{function() return mr.ones(2)[s] end, "
       "function() mr.tensor({1}, {dtype = s}) end, function() mr.data.letor(s) end, function() mr[s]() end} do "
       "print((pcall(f))) end",
       "false\nfalse\nfalse\nfalse\n"},
  };
  return all;
}

}  // namespace

TEST_CASE("scripts that misuse objects and finalizers end in errors, not in a crash") {
  // Lua never finalizes objects that a finalizer creates while the state closes. A sanitizer would report them as a
  // leak.
  setenv("ASAN_OPTIONS", "detect_leaks=0", 1);
  for (const Script& each : scripts()) {
    INFO(each.text);
    const Ran ran = run({"-e", each.text});
    CHECK(ran.status == 0);
    CHECK(ran.out == each.out);
  }
}

TEST_CASE("methods, getters and operators of every class do not crash with objects of other classes") {
  const Ran ran = run({"-e", R"(
    local values = { mr.ones(2), mr.lists{{1, 0}}, io.stdout, 42, {}, print, coroutine.create(print),
      '/dev/null/text', mr.models.mf{users = 2, items = 2} }
    local calls = 0
    for _, class in pairs(require 'moonrank.core'.classes) do
      for _, functions in ipairs{ class.methods, class.getters, class.meta } do
        for _, f in pairs(functions) do
          if type(f) == 'function' then
            for _, v in ipairs(values) do
              for _, w in ipairs(values) do
                pcall(f, v) pcall(f, v, w) pcall(f, v, w, v)
                calls = calls + 3
              end
            end
          end
        end
      end
    end
    io.stderr:write(calls > 10000 and 'many' or calls))"});
  CHECK(ran.status == 0);
  CHECK_THAT(ran.err, Contains("many"));
}
