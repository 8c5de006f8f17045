// Ctrl-C on running programs.
#include <catch2/catch.hpp>

#include "tests/support/command.h"

using Catch::Contains;
using mr::test::Command;
using mr::test::Ran;

namespace {
const std::string ready = "print('ready') io.stdout:flush() ";

/// Runs code that says that it is ready when Ctrl-C may come.
Ran interrupted(const std::string& code, int times = 1) {
  Command command({"-e", code});
  command.wait_for("ready");
  for (int i = 0; i < times; ++i) {
    command.send(SIGINT);
    if (i + 1 < times) std::this_thread::sleep_for(std::chrono::milliseconds(300));
  }
  return command.finish();
}
}  // namespace

TEST_CASE("Ctrl-C ends a script with status 130") {
  const Ran loop = interrupted(ready + "while true do end");
  CHECK(loop.status == 130);
  CHECK(loop.err == "moonrank: interrupted\n");
}

TEST_CASE("Ctrl-C stops a long operation") {
  CHECK(interrupted("local x = mr.uniform({400, 400}) " + ready + "while true do x = x:matmul(x):tanh() end").status ==
        130);
}

TEST_CASE("a script sees the error 'interrupted', and the second Ctrl-C ends it whatever it does") {
  const Ran caught = interrupted("print(pcall(function() " + ready + "while true do end end))");
  CHECK(caught.out == "ready\nfalse\tinterrupted\n");
  CHECK(caught.status == 130);
  const Ran stubborn = interrupted(ready + "while true do pcall(function() while true do end end) end", 2);
  CHECK(stubborn.status == 130);
}

TEST_CASE("one Ctrl-C is one error, also when it stops an operation") {
  const Ran ran = interrupted(
      "local x = mr.uniform({300, 300}) "
      "print(pcall(function() " +
      ready +
      "while true do x = x:matmul(x):tanh() end end)) "
      "for i = 1, 1000 do x = x:tanh() end print('goes on')");
  CHECK(ran.out == "ready\nfalse\tinterrupted\ngoes on\n");
}

TEST_CASE("deferred, the first Ctrl-C is only asked for") {
  const Ran ran = interrupted("local core = require 'moonrank.core' core.defer_interrupt(true) " + ready +
                              "while not core.interrupted() do end core.defer_interrupt(false) print('in order')");
  CHECK(ran.out == "ready\nin order\n");
  CHECK(ran.status == 130);
  CHECK(interrupted("require('moonrank.core').defer_interrupt(true) " + ready + "while true do end", 2).status == 130);
}
