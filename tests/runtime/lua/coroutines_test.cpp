// Tests that Moonrank's coroutine functions, which replace Lua's, behave like them. The expected output was printed by
// Lua 5.4.4.
#include <catch2/catch.hpp>

#include "tests/support/command.h"

TEST_CASE("coroutine functions give the same results and errors as Lua 5.4.4") {
  const std::string script =
      R"lua(local co = coroutine.create(function(a, b) local c = coroutine.yield(a + b) error({c}) end)
    print(coroutine.resume(co, 1, 2))
    local ok, e = coroutine.resume(co, 7)
    print(ok, e[1], coroutine.status(co), type(select(2, coroutine.close(co))))
    print(coroutine.resume(co))
    print(pcall(coroutine.wrap(function() error 'text' end)))
    print(pcall(coroutine.wrap(function() error('interrupted', 0) end)))
    local w = coroutine.wrap(function(...) return select('#', ...), ... end)
    print(w(nil, nil))
    print(pcall(w))
    print(pcall(coroutine.close, coroutine.running()))
    print(pcall(coroutine.resume, 7))
    print(pcall(coroutine.wrap, 7))
    local closed = coroutine.wrap(function()
      local x <close> = setmetatable({}, {__close = function() error('in close', 0) end}) error 'first' end)
    print(pcall(closed))
    local outer outer = coroutine.create(function()
      print(coroutine.wrap(function() return coroutine.status(outer), pcall(coroutine.close, outer) end)()) end)
    coroutine.resume(outer)
    print(coroutine.resume(coroutine.create(function() return table.unpack({}, 1, 1e7) end)))
    local s = 0 for i in coroutine.wrap(function() for i = 1, 10 do coroutine.yield(i) end end) do s = s + i end print(s)
    print(pcall(coroutine.wrap(function() local x <close> = setmetatable({}, {__close = function() end}) error('e', 2) end)))
    local d = coroutine.create(function() local x <close> = setmetatable({}, {__close = function() error 'c' end}) coroutine.yield() end) coroutine.resume(d) print(coroutine.close(d))
)lua";
  const mr::test::Ran ran = mr::test::run({"-e", script});
  CHECK(ran.err == "");
  CHECK(ran.out == R"out(true	3
false	7	dead	table
false	cannot resume dead coroutine
false	(command line):6: text
false	interrupted
2	nil	nil
false	cannot resume dead coroutine
false	cannot close a running coroutine
false	bad argument #1 to 'coroutine.resume' (thread expected, got number)
false	bad argument #1 to 'coroutine.wrap' (function expected, got number)
false	in close
normal	false	cannot close a normal coroutine
false	(command line):20: too many results to unpack
55
false	e
false	(command line):23: c
)out");
}

TEST_CASE("coroutine.yield raises an error within a scope, and a failed coroutine closes its scopes") {
  const std::string script =
      R"lua(local core = require 'moonrank.core'
    local function scoped(f)
      core.open_scope 'ours'
      local x <close> = setmetatable({}, {__close = function() core.close_scope() print 'closed' end})
      f()
    end
    print(coroutine.resume(coroutine.create(scoped), coroutine.yield))
    local co = coroutine.create(scoped)
    print(coroutine.resume(co, function() error('e', 0) end))
    print(coroutine.status(co), coroutine.close(co))
    print(coroutine.wrap(function() print(pcall(scoped, coroutine.yield)) coroutine.yield(1) end)())
    print((select(2, pcall(core.open_scope))), pcall(coroutine.yield))
    print = function() end
    for i = 1, 1e5 do coroutine.wrap(scoped)(function() end) end  -- what is known of coroutines that are gone, is gone
    collectgarbage()
    if collectgarbage 'count' > 20000 then error 'too much is kept' end
)lua";
  const mr::test::Ran ran = mr::test::run({"-e", script});
  CHECK(ran.err == "");
  const std::string refused =
      "closed\nfalse\t(command line):5: attempt to yield within 'ours': its setting would stay in force in other "
      "coroutines\n";
  CHECK(ran.out ==
        refused + "closed\nfalse\te\ndead\ttrue\n" + refused +
            "1\nbad argument #1 to 'moonrank.core.open_scope' (string expected, got no value)\tfalse\tattempt "
            "to yield from outside a coroutine\n");
}
