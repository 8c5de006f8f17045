// Tests of the program in unusual environments: output that cannot be written, closed standard streams, and odd
// environment variables.
#include <catch2/catch.hpp>

#include "kernels/core/simd/simd.h"
#include "kernels/device/gpu.h"
#include "tests/support/command.h"

using Catch::Contains;
using Catch::StartsWith;
using mr::test::Ran;
using mr::test::read_text;
using mr::test::run;
using mr::test::ScopedVariable;
using mr::test::TemporaryFolder;
using mr::test::TextFile;

namespace {

/// Runs a shell command in which $M stands for the program. Returns its standard error and its exit status.
Ran shell(const std::string& command) {
  const TemporaryFolder folder;
  const std::string err = (folder.path() / "err").string();
  const std::string whole = "M='" MR_MOONRANK_PATH "'; " + command + " 2>'" + err + "'";
  const int status = std::system(whole.c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status), "", read_text(err)};
}

}  // namespace

TEST_CASE("every command exits with status 1 if standard output cannot be written") {
  const TextFile spec("good_spec.lua",
                      "local test = require 'moonrank.test' test.it('is', function() test.check(1) end)");
  const TextFile script("s.lua", "local mr = require 'moonrank' mr.args{ nsr = 1 }");
  const TemporaryFolder folder;
  const std::string store = (folder.path() / "r.db").string();
  REQUIRE(run({"-e", "mr.sweep{name = 's', store = '" + store +
                         "', progress = false, space = {a = mr.range(1, 3)}, run = function(t) return t.a end}"})
              .status == 0);
  for (const std::string& arguments :
       {std::string("-e 'print(1)'"), std::string("-e 'io.write(1)'"), std::string("-e 'print(1) os.exit(0)'"),
        std::string("-e 'print(1) os.exit(true, true)'"), std::string("-e 'for i = 1, 100000 do print(i) end'"),
        std::string("-e 'io.stdout:setvbuf \"no\" print(1)'"), std::string("--version"), std::string("--help"),
        std::string("--dump-api"), std::string("doc ndcg"), std::string("data list"), "results '" + store + "'",
        "test '" + spec.path() + "'", "'" + script.path() + "' --help", std::string("</dev/null -e 'print(1)' -i")}) {
    INFO(arguments);
    const Ran full = shell("\"$M\" " + arguments + " >/dev/full");
    CHECK(full.status == 1);
    CHECK_THAT(full.err, StartsWith("moonrank: standard output "));
    CHECK(std::count(full.err.begin(), full.err.end(), '\n') == 1);
    const Ran closed = shell("\"$M\" " + arguments + " >&-");
    CHECK(closed.status == 1);
    CHECK_THAT(closed.err, StartsWith("moonrank: standard output "));
  }
  CHECK(shell("\"$M\" -e 'local x = 1' >/dev/full").status == 0);
  CHECK(shell("\"$M\" -e 'local x = 1' >&-").status == 0);
  CHECK(shell("\"$M\" -e 'print(1)' | head -c 0").status == 0);
}

TEST_CASE("a script exits with status 1 if the file of io.output cannot be written") {
  for (const char* const writes : {"io.write(1)", "for i = 1, 100000 do io.write(i) end"}) {
    const Ran full = shell("\"$M\" -e 'io.output(\"/dev/full\") " + std::string(writes) + "'");
    CHECK(full.status == 1);
    CHECK_THAT(full.err, StartsWith("moonrank: ") && Contains("io.output"));
  }
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "mine").string();
  CHECK(shell("\"$M\" -e 'io.output(\"" + path + "\") io.write(\"mine\")'").status == 0);
  CHECK(read_text(path) == "mine");
  CHECK(shell("\"$M\" -e 'io.output(\"/dev/full\") io.write(1) pcall(io.close)'").status == 0);
}

TEST_CASE("a file that a script opens does not receive the output of a closed stream") {
  const TemporaryFolder folder;
  const std::string path = (folder.path() / "mine").string();
  shell("\"$M\" -e 'local f = io.open(\"" + path +
        "\", \"w\") print(\"not for the file\") io.stderr:write(\"nor this\") " + "f:write(\"mine\") f:close()' >&-");
  CHECK(read_text(path) == "mine");
}

TEST_CASE("an invalid MOONRANK_ environment variable is one error before the script starts") {
  const TemporaryFolder empty;
  const TextFile file("file", "");
  struct Wrong {
    const char* variable;
    std::string value, said;
  };
  const std::string folder = empty.path().string();
  std::vector<Wrong> all = {
      {"MOONRANK_SIMD", "foo", "MOONRANK_SIMD is 'foo', expected '"},
      {"MOONRANK_DEVICE", "gpu", "MOONRANK_DEVICE is 'gpu', expected 'cpu' or 'cuda'"},
      {"MOONRANK_STDLIB", "/nonexistent", "MOONRANK_STDLIB is '/nonexistent', expected a folder with moonrank/ in it"},
      {"MOONRANK_STDLIB", folder, "MOONRANK_STDLIB is '" + folder + "', expected a folder with moonrank/ in it"},
      {"MOONRANK_DATA", "/nonexistent", "MOONRANK_DATA is '/nonexistent', expected a folder of data sets"},
      {"MOONRANK_DATA", file.path(), "MOONRANK_DATA is '" + file.path() + "', expected a folder of data sets"},
      {"MOONRANK_SAMPLES_GIB", "much", "MOONRANK_SAMPLES_GIB is 'much', expected a number of GiB"},
      {"MOONRANK_SAMPLES_GIB", "-1", "MOONRANK_SAMPLES_GIB is '-1', expected a number of GiB"},
      {"MOONRANK_SAMPLES_GIB", "nan", "MOONRANK_SAMPLES_GIB is 'nan', expected a number of GiB"},
      {"MOONRANK_SAMPLES_GIB", "8GiB", "MOONRANK_SAMPLES_GIB is '8GiB', expected a number of GiB"},
      {"MOONRANK_WORKER", "x", "the variable MOONRANK_WORKER is 'x'"},
      {"MOONRANK_WORKER", "1:2x", "the variable MOONRANK_WORKER is '1:2x'"},
      {"MOONRANK_WORKER", "999:1", "the variable MOONRANK_WORKER is '999:1'"},
  };
  if (mr::cpu::best_simd() < mr::cpu::Simd::avx512) {
    all.push_back({"MOONRANK_SIMD", "avx512", "MOONRANK_SIMD is 'avx512', which this processor lacks"});
  }
  if (!mr::cuda::gpu().available())
    all.push_back({"MOONRANK_DEVICE", "cuda", "MOONRANK_DEVICE is 'cuda', but cuda is not"});
  for (const Wrong& each : all) {
    INFO(each.said);
    const ScopedVariable variable(each.variable, each.value);
    const Ran ran = run({"-e", "print 'begins'"});
    CHECK(ran.status == 1);
    CHECK(ran.out.empty());
    CHECK_THAT(ran.err, StartsWith("moonrank: " + each.said));
    CHECK(std::count(ran.err.begin(), ran.err.end(), '\n') == 1);
    CHECK(run({"--help"}).status == 0);
  }
  for (const char* const name :
       {"MOONRANK_SIMD", "MOONRANK_DEVICE", "MOONRANK_STDLIB", "MOONRANK_DATA", "MOONRANK_SAMPLES_GIB"}) {
    const ScopedVariable variable(name, "");
    CHECK(run({"-e", "print 'begins'"}).out == "begins\n");
  }
}
