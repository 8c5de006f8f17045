// Tests of the command moonrank as a process: exit statuses, output, scripts, specs (test files in Lua) and
// documentation.
#include <cstdlib>
#include <sstream>

#include <catch2/catch.hpp>

#include "tests/support/command.h"
#include "tests/support/says.h"

namespace fs = std::filesystem;
using Catch::Contains;
using Catch::StartsWith;
using mr::test::Ran;
using mr::test::run;
using mr::test::says;
using mr::test::TextFile;

TEST_CASE("moonrank exits with status 2 and offers the nearest option if the command line is wrong") {
  struct Case {
    std::vector<std::string> words;
    std::vector<std::string> said;
  };
  const std::vector<Case> cases = {{{"--verson"}, {"'--verson'", "'--version'"}},
                                   {{"--thread", "2"}, {"'--thread'", "'--threads'"}},
                                   {{"--unheard-of-thing"}, {"'--unheard-of-thing'"}},
                                   {{"--threads"}, {"--threads", "missing"}},
                                   {{"--threads", "0"}, {"--threads", "'0'", "4096"}},
                                   {{"--threads=two"}, {"--threads", "'two'", "4096"}},
                                   {{"-e"}, {"-e", "missing"}},
                                   {{"test"}, {"test", "spec"}},
                                   {{"--threads", "2", "doc", "x"}, {"doc", "'--threads'"}},
                                   {{"--threads=2", "data", "list"}, {"data", "'--threads'"}},
                                   {{"-i", "test", "x"}, {"test", "'-i'"}},
                                   {{"-e", "x = 1", "results", "x"}, {"results", "'-e'"}},
                                   {{"doc", "-i"}, {"doc", "'-i'"}},
                                   {{"--version", "-i"}, {"--version", "'-i'"}},
                                   {{"--threads", "1", "--dump-api"}, {"--dump-api", "'--threads'"}},
                                   {{"--version", "--dump-api"}, {"--dump-api"}},
                                   {{"data"}, {"data", "'get NAME'", "'list'"}},
                                   {{"data", "gte", "x"}, {"'gte'", "'get'"}},
                                   {{"results"}, {"results", "one store", "none"}},
                                   {{"results", "a", "b"}, {"results", "one store", "2"}},
                                   {{"data", "get"}, {"data get", "one name"}},
                                   {{"results", "--hlep"}, {"results", "'--hlep'", "'--help'"}},
                                   {{"results", "r.db", "--hlep"}, {"results", "'--hlep'", "'--help'"}},
                                   {{"doc", "-x", "y"}, {"doc", "'-x'"}},
                                   {{"doc", "--html"}, {"doc --html", "missing"}},
                                   {{"doc", "ndcg", "--html", "x"}, {"doc --html", "one folder"}},
                                   {{"doc", "--html", "-i"}, {"doc --html", "'-i'"}},
                                   {{"results", "--html", "x"}, {"results", "'--html'"}},
                                   {{"test", "--halp"}, {"test", "'--halp'", "'--help'"}},
                                   {{"data", "--hepl"}, {"data", "'--hepl'", "'--help'"}},
                                   {{"data", "get", "--everything"}, {"data", "'--everything'"}},
                                   {{"docs"}, {"'docs'", "'doc'"}},
                                   {{"exec", "1"}, {"'exec'", "moonrank -e CODE"}},
                                   {{"trec_eval", "q", "r"}, {"'trec_eval'", "moonrank eval QRELS RUN"}},
                                   {{"-i", "eval", "q", "r"}, {"eval", "'-i'"}},
                                   {{"help", "me"}, {"help", "test, doc, results, data, eval, kernel, new or serve"}},
                                   {{"help", "--nonsense"}, {"help", "one command"}},
                                   {{"doc", ""}, {"doc", "empty", "mr.fit"}},
                                   {{"doc", " ", ""}, {"doc", "empty", "mr.fit"}},
                                   {{"-v"}, {"'-v'", "--version"}},
                                   {{"test", "--threads", "2"}, {"'--threads'", "before 'test'"}},
                                   {{"--version", "x"}, {"'x'"}}};
  for (const auto& [words, said] : cases) {
    const Ran ran = run(words);
    CHECK(ran.status == 2);
    CHECK_THAT(ran.err, StartsWith("moonrank: ") && mr::test::Says(said));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(ran.out.empty());
  }
}

TEST_CASE("moonrank prints versions with --version and usage of each command with --help") {
  const Ran version = run({"--version"});
  CHECK(version.status == 0);
  CHECK_THAT(version.out, StartsWith("moonrank ") && Contains("\nLua 5.4") && Contains("\ncpu: ") &&
                              Contains("\ncuda: ") && Contains("\nmpi: "));
  const Ran help = run({"--help"});
  CHECK(help.status == 0);
  for (const char* const command : {"test", "doc", "results", "serve", "data", "eval", "kernel", "new"}) {
    const Ran own = run({command, "--help"});
    CHECK_THAT(own.out, StartsWith("usage: moonrank ") && Contains(std::string(" ") + command + " "));
    CHECK(own.out != help.out);
    CHECK(run({command, "-h"}).out == own.out);
    CHECK(own.status == 0);
  }
  CHECK(run({"--help", "--version"}).out == help.out);
  CHECK(run({"--version", "-h"}).out == help.out);
  CHECK_THAT(run({"data", "get", "--help"}).out, Contains("$MOONRANK_DATA"));
  CHECK_THAT(help.out, says("moonrank test ", "--threads ", "130"));
}

TEST_CASE("moonrank -e runs strings in order, with mr loaded, before the script") {
  const Ran ran = run({"-e", "x = mr.ones(3):sum():item()", "-e", "print(x)"});
  CHECK(ran.status == 0);
  CHECK(ran.out == "3.0\n");
  const TextFile script("s.lua", "print(arg[0]:match '[^/]*$', arg[1], arg[2], ...)");
  CHECK(run({"-e", "print 'first'", script.path(), "--a", "b"}).out == "first\ns.lua\t--a\tb\n");
  CHECK(run({"-", "one"}, "print(arg[1])").out == "one\n");
  CHECK(run({"--threads", "1", "-e", "print(require('moonrank.core').threads())"}).out == "1\n");
}

TEST_CASE("moonrank exits with status 1 and prints one line and a stack trace if a script fails") {
  const TextFile script("s.lua",
                        "local mr = require 'moonrank'\n"
                        "local function train(x)\n"
                        "  local t = mr.tensor(x, {dtyp = 'float64'}) return t\n"
                        "end\n"
                        "local function all() local t = train{1} return t end\n"
                        "local ok = all()\n");
  const Ran ran = run({script.path()});
  CHECK(ran.status == 1);
  CHECK(ran.out.empty());
  CHECK_THAT(ran.err, StartsWith("moonrank: ") && says("s.lua:3:", "mr.tensor", "'dtyp'", "'dtype'"));
  CHECK_THAT(ran.err, Contains("\n  stdlib/moonrank/tensor.lua:") && Contains("s.lua:5: in ") &&
                          Contains("s.lua:6: in main chunk\n"));
  CHECK_THAT(ran.err, !Contains("[C]"));
}

TEST_CASE("moonrank --help is as wide as the terminal, and says the same words at every width") {
  const auto words = [](const std::string& text) {
    std::vector<std::string> found;
    std::istringstream in(text);
    for (std::string word; in >> word;) found.push_back(word);
    return found;
  };
  const auto widest = [](const std::string& text) {
    size_t most = 0;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) most = std::max(most, line.size());
    return most;
  };
  for (const char* const command : {"", "test", "doc", "results", "data"}) {
    const std::vector<std::string> arguments{"help", command};
    const std::vector<std::string> given(arguments.begin(), arguments.end() - (*command == '\0' ? 1 : 0));
    const std::string whole = run(given).out;
    CHECK(widest(whole) <= 120);
    for (const char* const columns : {"50", "80", "100"}) {
      setenv("COLUMNS", columns, 1);
      const std::string narrow = run(given).out;
      unsetenv("COLUMNS");
      CHECK(widest(narrow) <= std::stoul(columns));
      CHECK(words(narrow) == words(whole));
    }
  }
}

TEST_CASE("moonrank help prints the same text as --help") {
  CHECK(run({"help"}).out == run({"--help"}).out);
  CHECK(run({"help"}).status == 0);
  for (const char* const word : {"--help", "-h", "help"}) {
    const Ran help = run({"help", word});
    CHECK(help.status == 0);
    CHECK(help.out == run({"--help"}).out);
  }
  CHECK(run({"help", "doc"}).out == run({"doc", "--help"}).out);
}

TEST_CASE("errors of Lua itself are printed with a hint how to fix the script") {
  const TextFile calls("s.lua", "local mr = require 'moonrank'\nlocal n = mr.ones(2).shape[1]\nprint(n)\n");
  CHECK_THAT(run({calls.path()}).err, Contains("s.lua:2: ") && Contains("x:shape()"));
  const TextFile wrong("s.lua", "local n = 1\nn += 1\n");
  CHECK_THAT(run({wrong.path()}).err, Contains("s.lua:2: ") && Contains("n = n + 1"));
}

TEST_CASE("moonrank prints syntax errors, missing files, error objects and stack overflows of scripts") {
  const TextFile wrong("wrong.lua", "local x = = 1\n");
  CHECK_THAT(run({wrong.path()}).err, Contains("wrong.lua:1: unexpected symbol near '='"));
  CHECK(run({wrong.path()}).status == 1);
  CHECK(run({"/nowhere/none.lua"}).status == 1);
  CHECK_THAT(run({"/nowhere/none.lua"}).err, Contains("/nowhere/none.lua"));
  CHECK(run({"-e", "os.exit(7)"}).status == 7);
  CHECK_THAT(run({"-e", "error({})"}).err, Contains("(error object is a table value)"));
  CHECK_THAT(run({"-e", "error()"}).err, Contains("(error object is a nil value)"));
  CHECK_THAT(run({"-e", "error(setmetatable({}, {__tostring = function() return 'mine' end}))"}).err,
             StartsWith("moonrank: mine"));
  const Ran deep = run({"-e", "local function f(n) return 1 + f(n + 1) end f(1)"});
  CHECK(deep.status == 1);
  CHECK_THAT(deep.err, Contains("stack overflow") && Contains("\n  ...\n"));
  CHECK(std::count(deep.err.begin(), deep.err.end(), '\n') < 40);
  CHECK_THAT(run({"-e", "load('\\27Lua')()"}).err, Contains("attempt to call a nil value"));
}

TEST_CASE("undeclared globals are errors in scripts and specs but not with -e") {
  const TextFile reads("s.lua", "local learning_rate = 1\nprint(lerning_rate)\n");
  CHECK_THAT(run({reads.path()}).err, says("s.lua:2:", "'lerning_rate'"));
  const TextFile near("s.lua", "pritn(1)\n");
  CHECK_THAT(run({near.path()}).err, says("s.lua:1:", "'pritn'", "'print'"));
  const TextFile writes("s.lua", "total = 1\n");
  CHECK_THAT(run({writes.path()}).err, says("s.lua:1:", "'total'"));
  CHECK_THAT(run({"test", writes.path()}).err, Contains("'total'"));
  CHECK(run({"-e", "total = 1 print(total, other)"}).out == "1\tnil\n");
}

TEST_CASE("moonrank test reports passing specs, failing specs and specs without tests") {
  const std::string head = "local test = require 'moonrank.test'\n";
  const TextFile good("good_spec.lua", head + "test.it('adds', function() test.equal(1 + 1, 2) end)");
  const TextFile bad("bad_spec.lua", head + "test.it('adds', function() test.equal(1 + 1, 3) end)");
  const TextFile empty("empty_spec.lua", "local x = 1 return x");
  CHECK(run({"test", good.path()}).status == 0);
  CHECK(run({"test", empty.path()}).status == 1);
  const Ran both = run({"test", bad.path(), good.path()});
  CHECK(both.status == 1);
  CHECK_THAT(both.err, Contains("found 2, expected 3") && Contains("bad_spec.lua:2"));
  CHECK_THAT(both.out, says("good_spec.lua", "1 tests", "0 failures"));
}

TEST_CASE("moonrank doc prints a name's documentation and offers the nearest name if it is unknown") {
  const Ran arange = run({"doc", "arange"});
  CHECK(arange.status == 0);
  CHECK_THAT(arange.out, StartsWith("mr.arange(first, last, options)\n") && Contains("  options?  ") &&
                             Contains("mr.arange(1, 4)"));
  CHECK_THAT(run({"doc", "mr.Tensor:sum"}).out, StartsWith("mr.Tensor:sum(dim?)\n") && Contains("  dim?  integer"));
  CHECK_THAT(run({"doc"}).out, StartsWith("mr\n") && Contains("  gradcheck ") && Contains("  tensor "));
  const Ran none = run({"doc", "arnage"});
  CHECK(none.status == 1);
  CHECK_THAT(none.err, says("'arnage'", "'arange'"));
  const Ran words = run({"doc", "power-law", "popularity"});
  CHECK(words.status == 0);
  CHECK_THAT(words.out, says("'power-law popularity'", "\n  mr.data.synthetic  "));
}

TEST_CASE("moonrank data list shows the folder in which mr.data finds a data set") {
  const mr::test::TemporaryFolder home;
  const fs::path work = home.path() / "project" / "work";
  fs::create_directories(work);
  const mr::test::ScopedVariable data("XDG_DATA_HOME", (home.path() / "share").string());
  const mr::test::ScopedVariable chosen("MOONRANK_DATA", home.path().string());
  const Ran list = run({"data", "list"}, "", work.string());
  CHECK(list.status == 0);
  CHECK_THAT(list.out, Contains("moonrank data get movielens"));
  // Folders that are searched for data sets, from the last to the first. A data set in each hides those in the folders
  // before it in this list.
  for (const auto& [folder, shown] : std::vector<std::pair<fs::path, std::string>>{
           {home.path() / "share" / "moonrank", (home.path() / "share" / "moonrank").string() + "/"},
           {home.path() / "project" / "shared" / "data", "../shared/data/"},
           {home.path(), home.path().string() + "/"},
           {work, ""}}) {
    fs::create_directories(folder / "ml-latest-small");
    const std::string path = shown + "ml-latest-small";
    CHECK_THAT(run({"data", "list"}, "", work.string()).out, says("damaged", path + ": ", "ratings.csv"));
    const Ran found = run({"-e", "print(require('moonrank.data.find').path 'ml-latest-small')"}, "", work.string());
    CHECK(found.out == path + "\n");
  }
  const Ran unknown = run({"data", "get", "movielen"});
  CHECK(unknown.status == 1);
  CHECK_THAT(unknown.err, says("'movielen'", "movielens"));
}

TEST_CASE("the standard library is built into moonrank, and MOONRANK_STDLIB takes precedence") {
  const mr::test::TemporaryFolder folder;
  CHECK(run({"-e", "print(mr.ones(2):sum():item())"}, "", folder.path().string()).out == "2.0\n");
  std::filesystem::create_directories(folder.path() / "moonrank" / "system");
  std::ofstream(folder.path() / "moonrank" / "system" / "about.lua")
      << "return { text = function() return 'mine' end }";
  const mr::test::ScopedVariable stdlib("MOONRANK_STDLIB", folder.path().string());
  CHECK(run({"--version"}).out == "mine\n");
  CHECK(run({"-e", "print(mr.ones(2):sum():item())"}).out == "2.0\n");
}

TEST_CASE("moonrank results lists the studies of a store and their trials") {
  const mr::test::TemporaryFolder folder;
  const std::string path = (folder.path() / "r.db").string();
  const Ran made =
      run({"-e", "mr.sweep{name = 's', store = '" + path +
                     "', progress = false, space = {a = mr.range(1, 3)}, run = function(t) return t.a end}"});
  CHECK(made.err == "");
  const Ran ran = run({"results", path});
  CHECK(ran.status == 0);
  CHECK(ran.out ==
        "s: 3 done of 3\n  trial  value  a\n  -----  -----  -\n      3      3  3\n      2      2  2\n      1      1  "
        "1\n");
  const Ran none = run({"results", path + "x"});
  CHECK(none.status == 1);
  CHECK_THAT(none.err, Contains(path + "x "));
}
