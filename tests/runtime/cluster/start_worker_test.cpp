// Tests of starting worker processes, and of how their end is reported.
#include "runtime/cluster/start_worker.h"

#include <csignal>

#include <catch2/catch.hpp>

#include "tests/support/temporary_folder.h"

namespace mr::cluster {
namespace {

using Catch::Contains;

TEST_CASE("how_it_ended reports the exit status or the signal of a started worker") {
  const test::TemporaryFolder folder;
  const std::string log = (folder.path() / "log").string();
  // start_worker starts this test program itself, here with an option that it does not have, so that it fails
  Started started = start_worker({"tests", "--no-such-option"}, log);
  const std::optional<std::string> how = io::how_it_ended(started.id, true);
  REQUIRE(how);
  CHECK_THAT(*how, Contains("exit status") && !Contains("exit status 0"));
  while (!started.channel.ended()) started.channel.receive();
  Started killed = start_worker({"tests", "--list-tests"}, log);
  kill(killed.id, SIGKILL);
  CHECK(io::how_it_ended(killed.id, true) == "signal 9 (Killed)");
  CHECK(io::how_it_ended(killed.id, false) == "no such process");
  CHECK_THROWS_WITH(start_worker({}, log), Contains("command line"));
}

TEST_CASE("a process is not a worker without a valid MOONRANK_WORKER") {
  CHECK_FALSE(worker_end());
  const test::ScopedVariable odd("MOONRANK_WORKER", "x");
  CHECK_THROWS_WITH(become_worker(), Contains("MOONRANK_WORKER is 'x'"));
}

}  // namespace
}  // namespace mr::cluster
