// Tests that error objects that scripts raise are printed in one line, and that the program does not trust objects that
// imitate its own error objects.
#include <catch2/catch.hpp>

#include "tests/support/command.h"
#include "tests/support/says.h"

using Catch::Contains;
using Catch::StartsWith;
using mr::test::Ran;
using mr::test::run;
using mr::test::says;
using mr::test::TextFile;

namespace {

struct Raised {
  std::string object, said;
};

/// Error objects of every type and with every kind of metatable, each with the text that the program must print for it.
const std::vector<Raised>& objects() {
  const std::string nothing = "(error object is a table value)";
  static const std::vector<Raised> all = {
      {"setmetatable({}, {__name = {}})", nothing},
      {"setmetatable({}, {__name = true})", nothing},
      {"setmetatable({}, {__name = 7})", nothing},
      {"setmetatable({}, {__name = 'mr.Exit'})", nothing},
      {"setmetatable({exit_status = 0, message = 'all is well'}, {__name = 'mr.Exit'})", nothing},
      {"setmetatable({}, {__name = 'mr.Exit', __index = function() error 'more' end})", nothing},
      {"setmetatable({}, {__metatable = 'hidden', __name = {}})", nothing},
      {"setmetatable({}, {__tostring = function() error 'more' end})", nothing},
      {"setmetatable({}, {__tostring = function(s) error(s) end})", nothing},
      {"setmetatable({}, {__tostring = function(s) return tostring(s) end})", nothing},
      {"setmetatable({}, {__tostring = function() return 7 end})", nothing},
      {"setmetatable({}, {__tostring = {}})", nothing},
      {"setmetatable({}, {__tostring = function() return 'mine' end})", "mine"},
      {"{}", nothing},
      {"nil", "(error object is a nil value)"},
      {"false", "(error object is a boolean value)"},
      {"7", "7"},
      {"print", "(error object is a function value)"},
      {"coroutine.create(print)", "(error object is a thread value)"},
      {"io.stdout", "file (0x"},
      {"mr.ones(2)", "{1, 1}  mr.Tensor {2} float32"},
      {"'text \\27[2J\\xff'", "text \\x1b[2J\\xff"},
      {"('x'):rep(3000)", std::string(3000, 'x')},
  };
  return all;
}

}  // namespace

TEST_CASE("error objects of every type are printed in scripts, coroutines, sessions and specs") {
  for (const Raised& each : objects()) {
    INFO(each.object);
    const std::string raise = "error(" + each.object + ", 0)";
    const Ran plain = run({"-e", raise});
    CHECK(plain.status == 1);
    CHECK_THAT(plain.err, StartsWith("moonrank: " + each.said) && Contains("main chunk"));
    const Ran wrapped = run({"-e", "coroutine.wrap(function() " + raise + " end)()"});
    CHECK(wrapped.status == 1);
    CHECK_THAT(wrapped.err, Contains(each.said));
    const Ran session = run({}, raise + "\n'goes on'\n");
    CHECK(session.status == 1);
    CHECK_THAT(session.err, StartsWith("moonrank: " + each.said));
    CHECK(session.out == "goes on\n");
    const TextFile spec("raises_spec.lua",
                        "local test, mr = require 'moonrank.test', require 'moonrank'\n"
                        "test.it('raises', function() test.check(mr) " +
                            raise +
                            " end)\n"
                            "test.it('goes on', function() test.check(true) end)\n");
    const Ran tested = run({"test", spec.path()});
    CHECK(tested.status == 1);
    CHECK_THAT(tested.err, Contains(each.said));
    CHECK_THAT(tested.out, Contains("2 tests, 2 checks, 1 failures"));
  }
}

TEST_CASE("errors within Moonrank's own modules and require are printed in scripts and sessions") {
  const TextFile script("s.lua", "print(1)\n");
  const std::string raises = "setmetatable({}, {__index = function() error {} end, __call = function() error() end})";
  for (const std::string& before :
       {"package.loaded['moonrank.prompt.strict'] = " + raises, std::string("require = nil"), "require = " + raises}) {
    INFO(before);
    const Ran ran = run({"-e", before, script.path()});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, StartsWith("moonrank: ") && !Contains("null"));
  }
  for (const std::string& mine :
       {raises, std::string("7"), std::string("{print = 7}"), std::string("{print = error}")}) {
    INFO(mine);
    const Ran session = run({}, "package.loaded['moonrank.prompt.repl'] = " + mine + "\n1 + 1\nprint 'goes on'\n");
    CHECK(session.status == 1);
    CHECK_THAT(session.err, StartsWith("moonrank: "));
    CHECK(session.out == "goes on\n");
  }
}

TEST_CASE("a session escapes control characters and refuses to show too many values") {
  const Ran many = run({}, "table.unpack({}, 1, 999000)\n1 + 1\n");
  CHECK(many.status == 1);
  CHECK_THAT(many.err, Contains("999000"));
  CHECK(many.out == "2\n");
  const Ran escapes = run({},
                          "'a\\27[2Jb', 'line\\nline', '\\xff'\n"
                          "{'\\27[31m', ['\\27k'] = 1}\n"
                          "setmetatable({}, {__tostring = function() return '\\27[H' end})\n");
  CHECK(escapes.out ==
        "a\\x1b[2Jb\tline\nline\t\\xff\n"
        "{\"\\27[31m\", [\"\\27k\"] = 1}\n"
        "\\x1b[H\n");
}

TEST_CASE("mr.args ends a script with its own status also within pcall and coroutines") {
  const TextFile script("s.lua",
                        "local mr = require 'moonrank'\n"
                        "local ok, e = pcall(coroutine.wrap(function() return mr.args{ nsr = 1 } end))\n"
                        "if not ok then error(e) end\n");
  CHECK(run({script.path()}).status == 0);
  const Ran wrong = run({script.path(), "--nsr", "x"});
  CHECK(wrong.status == 2);
  CHECK_THAT(wrong.err, says("--nsr", "'x'"));
  const Ran help = run({script.path(), "--help"});
  CHECK(help.status == 0);
  CHECK_THAT(help.out, Contains("--nsr INTEGER"));
}
