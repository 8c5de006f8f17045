// Tests of interactive sessions, with input from a pipe and from a terminal.
#include <sys/stat.h>

#include <catch2/catch.hpp>

#include "tests/support/command.h"
#include "tests/support/says.h"
#include "tests/support/terminal.h"

using Catch::Contains;
using Catch::StartsWith;
using mr::test::Ran;
using mr::test::run;
using mr::test::says;
using mr::test::Terminal;

TEST_CASE("a session from a pipe prints results and errors without prompts") {
  const Ran ran = run({},
                      "1 + 1, 'two'\n"
                      "x = mr.tensor{1, 2, 3}\n"
                      "x * 2\n"
                      "\n"
                      "for i = 1, 2 do\n"
                      "  print(i)\n"
                      "end\n"
                      "nil\n"
                      "{1, {2}, name = 'n', f = print ~= nil}\n"
                      "error('boo')\n"
                      "local y = 1\n"
                      "y\n"
                      "= = 1\n"
                      "f = function(\n"
                      "a) return a end\n"
                      "f(5)");
  CHECK(ran.status == 1);
  CHECK(ran.out ==
        "2\ttwo\n"
        "{2, 4, 6}  mr.Tensor {3} float32\n"
        "1\n2\n"
        "nil\n"
        "{1, {2}, f = true, name = \"n\"}\n"
        "1\n"
        "5\n");
  CHECK_THAT(ran.err, StartsWith("moonrank: stdin:1: boo\n  stdin:1: in main chunk\n"
                                 "moonrank: stdin:1: unexpected symbol near '='"));
}

TEST_CASE("local variables at the prompt last, and do not change globals of the library") {
  const Ran ran = run({},
                      "local x, y = 5\n"
                      "x, y, _G.x\n"
                      "x = x + 1\n"
                      "local function twice(v) local x = 2 return x * v end\n"
                      "twice(x)\n"
                      "do local inner = 1 end\n"
                      "inner\n"
                      "local table = mr.table{columns = {'a'}, rows = {{1}}}\n"
                      "tostring(table):gsub('%s', ''), _G.table == require 'table'\n"
                      "local late late = 3\n"
                      "late, _G.late\n"
                      "made = 1\n"
                      "_G.made\n");
  CHECK(ran.err.empty());
  CHECK(ran.out == "5\tnil\tnil\n12\nnil\na-1\ttrue\n3\tnil\n1\n");
}

TEST_CASE("constants declared at the prompt cannot be assigned to") {
  const Ran ran = run({},
                      "function early() k = 5 end\n"
                      "local k <const>, n <const> = 1\n"
                      "function seen() return k end\n"
                      "k = 2\n"
                      "early()\n"
                      "n = 2\n"
                      "local t <const> = {1}; t = 2\n"
                      "k, n, _G.k, seen()\n"
                      "local k = k + 1\n"
                      "k = k + 1\n"
                      "k, seen()\n"
                      "local t <const> = {}\n"
                      "t[1] = 4\n"
                      "t[1]\n");
  CHECK(ran.status == 1);
  CHECK(ran.out == "1\tnil\tnil\t1\n3\t1\n4\n");
  const auto refused = [](const std::string& name) {
    return "moonrank: stdin:1: attempt to assign to const variable '" + name + "'\n";
  };
  const size_t frames = ran.err.find("  stdlib/"), after = ran.err.find("moonrank: ", frames);
  REQUIRE(after != std::string::npos);
  CHECK(ran.err.substr(0, frames) == refused("k") + refused("k"));
  CHECK(ran.err.substr(after) == refused("n") + refused("t"));
}

TEST_CASE("the prompt refuses a <close> variable outside of a block") {
  const std::string closer = "setmetatable({}, {__close = function() print 'closed' end})\n";
  const Ran ran = run({}, "local f <close> = " + closer + "f\ndo local f <close> = " + closer + " print 'used' end\n");
  CHECK(ran.out == "nil\nused\nclosed\n");
  CHECK_THAT(ran.err, says("stdin:1:", "'f'", "closed") && Contains("do local f <close> = ... end"));
}

TEST_CASE("a session from a pipe exits with status 1 if any of its lines raises an error") {
  CHECK(run({}, "error('x')\n").status == 1);
  CHECK(run({}, "= = 1\n1\n").status == 1);
  CHECK(run({}, "for i = 1, 2 do\n").status == 1);
  CHECK(run({}, "setmetatable({}, {__tostring = function() error 'x' end, __name = 't'})\nexit\n").status == 1);
  CHECK(run({}, "pcall(error)\n").status == 0);
  CHECK(run({"-i", "-e", "a = 3"}, "error(a)\n").status == 1);
}

TEST_CASE("exit and quit end a session with and without parentheses") {
  for (const std::string word : {"exit", "exit()", "quit", "quit()", "if true then quit() end"}) {
    const Ran ran = run({}, "1\n" + word + "\n2\n");
    CHECK(ran.status == 0);
    CHECK(ran.out == "1\n");
    CHECK(ran.err.empty());
  }
  CHECK(run({}, "exit = 3\nexit\n4\n").out == "3\n4\n");
}

TEST_CASE("the prompt prints a report once per statement, and the contents of mr and mr.losses") {
  const std::string check = "mr.bounds.check('minmax', {metrics = {'ndcg'}, nsr = {1}, relevant = {1, 2}})\n";
  const auto reports = [](const std::string& typed) {
    const std::string out = run({}, typed).out;
    int count = 0;
    for (size_t at = out.find("no problem found"); at != std::string::npos; at = out.find("no problem found", at + 1))
      ++count;
    return count;
  };
  CHECK(reports(check) == 1);
  CHECK(reports("r = " + check) == 1);
  CHECK(reports("r = " + check + "r\n") == 2);
  CHECK_THAT(run({}, "mr\n").out, Contains("\n  gradcheck ") && Contains("\n  losses.") && Contains("\n  sweep "));
  CHECK_THAT(run({}, "mr.losses\n").out, Contains("mr.losses\n") && Contains("\n  lambdarank "));
}

TEST_CASE("?name at the prompt shows the documentation of names and values") {
  CHECK_THAT(run({}, "?arange\n").out, Contains("mr.arange(first, last, options)\n"));
  CHECK_THAT(run({}, "local t = mr.tensor{1}\n?t\n").out, Contains("  :matmul "));
  CHECK_THAT(run({}, "? mr.bounds.define\n").out, Contains("mr.bounds.define("));
  CHECK_THAT(run({}, "?\n").out, Contains("gradcheck"));
  CHECK_THAT(run({}, "?arnage\n1\n").err, Contains("'arange'"));
}

TEST_CASE("help at the prompt shows documentation, and -i starts a session after a script") {
  CHECK_THAT(run({}, "help(mr.arange)\nhelp'arange'\n").out, Contains("mr.arange(first, last, options)\n"));
  CHECK_THAT(run({}, "help(mr.tensor{1})\n").out, Contains("  :matmul ") && Contains("  .grad "));
  const mr::test::TextFile script("s.lua", "local mr = require 'moonrank' rawset(_G, 'kept', mr.ones(1):item())");
  CHECK(run({"-i", script.path()}, "kept\nnew = 2\nnew\n").out == "1.0\n2\n");
  CHECK(run({"-i", "-e", "a = 3"}, "a").out == "3\n");
}

TEST_CASE("a session that ends within an unfinished statement says what is missing") {
  const Ran ran = run({}, "for i = 1, 2 do\n");
  CHECK_THAT(ran.err, Contains("'end' expected"));
}

TEST_CASE("a session on a terminal has a prompt, completion, multi-line input, Ctrl-C and history") {
  const mr::test::TemporaryFolder home;
  const mr::test::ScopedVariable state("XDG_STATE_HOME", home.path().string());
  const mr::test::ScopedVariable term("TERM", "xterm");
  {
    Terminal session;
    session.expect("> ");
    session.type("x = mr.aran\t(1, 3)\n");
    session.expect("> ");
    session.type("mr.losses.ap{bo\t = 'minm\t'}.bound_name .. '!'\n");
    session.expect("minmax!");
    session.expect("> ");
    session.type("mr.losses.ap{\n");
    session.expect(">> ");
    // tab completion inside of a call whose first line was typed before
    session.type("bo\t = 'zs\t'}.bound_name .. '!'\n");
    session.expect("zscore!");
    session.expect("> ");
    session.type("x:su\t():item()\n");
    session.expect("6.0");
    session.expect("> ");
    session.type("for i = 7, 8 do\n");
    session.expect(">> ");
    session.type("print(i * 11) end\n");
    session.expect("77");
    session.expect("88");
    session.expect("> ");
    session.type("not finished");
    session.expect("finished");
    session.type("\x03");
    session.expect("^C");
    session.expect("> ");
    session.type("print('run' .. 'ning') while true do end\n");
    session.expect("running");
    session.type("\x03");
    session.expect("interrupted");
    session.expect("> ");
    session.type(std::string(1, '\0'));  // Ctrl-Space must do nothing
    session.type("'still ' .. 'here'\n");
    session.expect("still here");
    CHECK(session.finish() == 0);
  }
  CHECK_THAT(mr::test::read_text(home.path() / "moonrank" / "history"), Contains("item()") && Contains("still"));
  Terminal again;
  again.expect("> ");
  again.type("\x1b[A\n");  // the arrow key up recalls the last line of the previous session
  again.expect("still here");
  CHECK(again.finish() == 0);
}

TEST_CASE("a session keeps no history if the history's path holds another file") {
  const mr::test::TemporaryFolder home;
  const mr::test::ScopedVariable state("XDG_STATE_HOME", home.path().string());
  const mr::test::ScopedVariable term("TERM", "xterm");
  const std::filesystem::path path = home.path() / "moonrank" / "history";
  std::filesystem::create_directories(path.parent_path());
  const auto session_says = [](const std::string& text) {
    Terminal session;
    session.expect("> ");
    session.type("print('run' .. 'ning')\n");
    session.expect(text);
    session.expect("> ");
    CHECK(session.finish() == 0);
  };
  std::ofstream(path) << "a thesis";
  session_says("no history is kept: " + path.string());
  CHECK(mr::test::read_text(path) == "a thesis");
  std::filesystem::remove(path);
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  session_says("running");
  CHECK(std::filesystem::is_fifo(path));
}
