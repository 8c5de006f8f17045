// Tests of Ctrl-C (SIGINT) on running programs.
#include <catch2/catch.hpp>

#include "tests/support/command.h"

using Catch::Contains;
using mr::test::Command;
using mr::test::Ran;

namespace {
const std::string ready = "print('ready') io.stdout:flush() ";

constexpr std::chrono::milliseconds another_press{700}, the_same_press{20};

/// Runs code that prints "ready" when it can be interrupted, then sends Ctrl-C `times` times with a pause of `apart`
/// between them.
Ran interrupted(const std::string& code, int times = 1, std::chrono::milliseconds apart = another_press) {
  Command command({"-e", code});
  command.wait_for("ready");
  for (int i = 0; i < times; ++i) {
    command.send(SIGINT);
    if (i + 1 < times) std::this_thread::sleep_for(apart);
  }
  return command.finish();
}
}  // namespace

TEST_CASE("Ctrl-C ends a script with status 130") {
  const Ran loop = interrupted(ready + "while true do end");
  CHECK(loop.status == 130);
  CHECK(loop.err == "moonrank: interrupted\n");
}

TEST_CASE("Ctrl-C ends a script within a long tensor operation") {
  CHECK(interrupted("local x = mr.uniform({400, 400}) " + ready + "while true do x = x:matmul(x):tanh() end").status ==
        130);
}

TEST_CASE("a script can catch the error 'interrupted' of one Ctrl-C, and the second Ctrl-C ends it") {
  const Ran caught = interrupted("print(pcall(function() " + ready + "while true do end end))");
  CHECK(caught.out == "ready\nfalse\tinterrupted\n");
  CHECK(caught.status == 130);
  const Ran stubborn = interrupted(ready + "while true do pcall(function() while true do end end) end", 2);
  CHECK(stubborn.status == 130);
  CHECK_THAT(stubborn.err, Contains("kept") && Contains("lost"));
}

TEST_CASE("interrupt signals within milliseconds count as one Ctrl-C") {  // `timeout -s INT` sends several signals
  const std::string code =
      "print(pcall(function() " + ready +
      "while true do end end)) local t = os.clock() + 0.3 while os.clock() < t do end print('ends')";
  for (const int times : {2, 5}) {
    const Ran ran = interrupted(code, times, the_same_press);
    CHECK(ran.out == "ready\nfalse\tinterrupted\nends\n");
    CHECK(ran.err.empty());
    CHECK(ran.status == 130);
  }
}

TEST_CASE("one Ctrl-C raises one error if it stops a tensor operation, and later operations work") {
  const Ran ran = interrupted(
      "local x = mr.uniform({300, 300}) "
      "print(pcall(function() " +
      ready +
      "while true do x = x:matmul(x):tanh() end end)) "
      "for i = 1, 1000 do x = x:tanh() end print('goes on')");
  CHECK(ran.out == "ready\nfalse\tinterrupted\ngoes on\n");
}

namespace {

/// A computation that takes at least a minute (`during`), and the code that prepares it (`before`).
struct Long {
  const char* what;
  std::string before, during;
};

const std::vector<Long>& long_work() {
  static const std::vector<Long> all = {
      {"a loop in a coroutine", "", "coroutine.wrap(function() while true do end end)()"},
      {"a loop in a resumed coroutine", "local co = coroutine.create(function() while true do end end)",
       "assert(coroutine.resume(co))"},
      {"a coroutine in a coroutine", "",
       "coroutine.wrap(function() coroutine.wrap(function() while true do end end)() end)()"},
      {"coroutines that yield", "local w = coroutine.wrap(function() while true do coroutine.yield() end end)",
       "while true do w() end"},
      {"coroutines without end", "", "while true do coroutine.wrap(function() coroutine.yield() end)() end"},
      {"what is closed in a coroutine",
       "local x = setmetatable({}, {__close = function() while true do end end}) "
       "local co = coroutine.create(function() local y <close> = x coroutine.yield() end) coroutine.resume(co)",
       "assert(coroutine.close(co))"},
      {"an operation in a coroutine", "local x = mr.uniform({400, 400})",
       "coroutine.wrap(function() while true do x = x:matmul(x):tanh() end end)()"},
      {"a protected loop", "", "assert(pcall(function() while true do end end))"},
      {"replacing", "local s = ('x'):rep(1000)", "while true do s:gsub('.', string.upper) end"},
      {"sorting", "local t = {} for i = 1, 1000 do t[i] = i end",
       "while true do table.sort(t, function(a, b) return a > b end) end"},
      {"waiting", "", "require 'moonrank.core'.wait_for({}, 600)"},
      {"another program", "", "require 'moonrank.core'.gnuplot('pause 600')"},
      {"made-up queries", "", "mr.data.synthetic{kind = 'queries', queries = 2000000, features = 300, mean_size = 2}"},
      {"made-up ratings", "", "mr.data.synthetic{users = 1000000, items = 100000}"},
      {"one user of many ratings", "", "mr.data.synthetic{users = 1, items = 100000000, mean_activity = 50000000}"},
      {"folds", "local r = mr.data.synthetic{users = 2000, items = 2000}:binarize(3)",
       "while true do r:folds{k = 2, by = 'user', seed = 1, nsr = 100} end"},
      {"a fold", "local r = mr.data.synthetic{users = 300, items = 30000, mean_activity = 3000}:binarize(1)",
       "for i = 1, 1000 do local f = r:folds{k = 2, by = 'user', seed = i, nsr = 4000}[1].train end"},
      {"a distribution by samples", "",
       "mr.bounds.distribution('ap', {n = 100000, p = 30000, method = 'sampled', samples = 300000})"},
      {"distributions", "",
       "for i = 1, 100000 do mr.bounds.distribution('ap', {n = 300, p = 10 + i % 200, method = 'exact'}) end"},
      {"bounds", "", "for i = 1, 100000 do mr.bounds.of('ap', {n = 20000 + i, p = 3000 + i}) end"},
      {"products", "local x = mr.normal({3000, 3000})", "for i = 1, 100 do x:matmul(x) end"},
      {"attention within a long list",
       "local l = mr.lists{sizes = {200000}, relevance = mr.zeros({200000})} local x = mr.normal({200000, 64})",
       "l:attention(x, x, x)"},
      {"pairs within a long list",
       "local l = mr.lists{sizes = {700000}, relevance = mr.uniform({700000}):gt(0.5):float()} "
       "local x, f = mr.normal({700000}), mr.losses.lambdarank()",
       "f(x, l)"},
      {"least squares of many columns",
       "local core = require 'moonrank.core' local x = mr.normal({20000, 4000}, {dtype = 'float64'}) "
       "local y = mr.normal({20000}, {dtype = 'float64'})",
       "core.least_squares(x, y)"},
      {"a smooth metric of a long list",
       "local l = mr.lists{sizes = {100000}, relevance = mr.uniform({100000}):gt(0.5):float()} "
       "local x = mr.normal({100000}, {sd = 1e6})",
       "for i = 1, 1000 do mr.smooth.ndcg(x, l) end"},
      {"metrics",
       "local l = mr.lists{sizes = {1000000}, relevance = mr.uniform({1000000}):gt(0.5):float()} "
       "local x = mr.normal({1000000})",
       "for i = 1, 10000 do mr.evaluate(x, l, {'ndcg', 'ap', 'nrbp'}) end"},
      {"a kernel regression", "local core = require 'moonrank.core' local x = mr.normal({200000}, {dtype = 'float64'})",
       "core.kernel_regression(x, x, x, 3.0, 1, 0)"},
      {"an estimated density",
       "local core = require 'moonrank.core' local x = mr.normal({400000}, {dtype = 'float64'})",
       "core.kde(x, x, 9.0)"},
      {"a digest", "local core, s = require 'moonrank.core', ('x'):rep(100000000)",
       "for i = 1, 1000 do core.sha256(s) end"},
      {"training",
       "local r = mr.data.synthetic{users = 300, items = 2000} local f = r:binarize(3):folds{k = 2, by = 'user', seed "
       "= 1, "
       "nsr = 1}[1] local m = mr.models.mf{users = r.users, items = r.items, factors = 32}",
       "local run = mr.fit{model = m, loss = mr.losses.ndcg{}, train = f.train, optimizer = mr.optim.adam{lr = 0.01}, "
       "epochs = 1000000, progress = false} assert(not run.interrupted, 'in order')"},
  };
  return all;
}

}  // namespace

TEST_CASE("one Ctrl-C ends every kind of long computation within 30 seconds") {
  for (const Long& each : long_work()) {
    INFO(each.what);
    Command command({"-e", each.before + " " + ready + each.during});
    command.wait_for("ready");
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    command.send(SIGINT);
    const auto began = std::chrono::steady_clock::now();
    const Ran ran = command.finish();
    CHECK(std::chrono::steady_clock::now() - began < std::chrono::seconds(30));
    CHECK(ran.status == 130);
  }
}

TEST_CASE("Ctrl-C ends the reading of CSV files and the hashing of files") {
  const mr::test::TemporaryFolder folder;
  const std::string csv = (folder.path() / "r.csv").string(), gz = (folder.path() / "r.csv.gz").string();
  {
    std::ofstream file(csv);
    file << "userId,movieId,rating\n";
    for (int i = 0; i < 1'000'000; ++i) file << i / 100 << "," << i % 997 << ",4.5\n";
  }
  REQUIRE(std::system(("gzip -1 -c '" + csv + "' > '" + gz + "'").c_str()) == 0);
  for (const std::string& path : {csv, gz}) {
    const std::string core = "local core = require 'moonrank.core' " + ready + "while true do core.";
    CHECK(interrupted(core + "read_pairs('" + path + "', 'userId', 'movieId') end").status == 130);
    CHECK(interrupted(core + "read_ratings({'" + path +
                      "'}, 'userId', 'movieId', 'rating', true, '', false, true, ',', 'error') end")
              .status == 130);
    CHECK(interrupted(core + "sha256_file('" + path + "') end").status == 130);
  }
}

TEST_CASE("mr.data.synthetic refuses sizes beyond memory at once") {
  for (const char* const options : {"kind = 'queries', queries = 2^53|0", "kind = 'queries', features = 2^62|0",
                                    "kind = 'queries', mean_size = 2^62|0", "users = 2^53|0", "items = 2^62|0",
                                    "users = 2^40|0, items = 2^62|0, mean_activity = 2^62|0", "factors = 2^62|0"}) {
    INFO(options);
    const Ran ran = mr::test::run({"-e", std::string("mr.data.synthetic{") + options + "}"});
    CHECK(ran.status == 1);
    CHECK_THAT(ran.err, Contains("the data would need about") || Contains("expected at most"));
  }
}

TEST_CASE("a second Ctrl-C ends a stubborn statement at the prompt but not the session") {
  const std::string stubborn = "while true do pcall(function() while true do end end) end";
  Command session({}, ready + stubborn + "\nprint 'lives on'\n");
  session.wait_for("ready");
  session.send(SIGINT);
  std::this_thread::sleep_for(another_press);
  session.send(SIGINT);
  const Ran ran = session.finish();
  CHECK(ran.status == 130);
  CHECK(ran.out == "ready\nlives on\n");
  CHECK(ran.err == "moonrank: interrupted\n");
}

TEST_CASE("a late Ctrl-C does not touch a Lua state that the script closes") {
  const Ran ran = interrupted("setmetatable({}, {__gc = function() " + ready +
                              "local t = os.clock() + 1 while os.clock() < t do end end}) "
                              "os.exit(0, true)");
  CHECK(ran.status == 0);
}

TEST_CASE("the first Ctrl-C only sets interrupted() if interrupts are deferred, and the second ends the script") {
  const Ran ran = interrupted("local core = require 'moonrank.core' core.defer_interrupt(true) " + ready +
                              "while not core.interrupted() do end core.defer_interrupt(false) print('in order')");
  CHECK(ran.out == "ready\nin order\n");
  CHECK(ran.status == 130);
  CHECK(interrupted("require('moonrank.core').defer_interrupt(true) " + ready + "while true do end", 2).status == 130);
}
