#include "runtime/io/process.h"

#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "kernels/core/threads.h"

using mr::io::Errors;
using mr::io::Finished;
using mr::io::run_process;

TEST_CASE("a program gets its input and gives back both outputs") {
  const Finished done = run_process({"sh", "-c", "cat; echo words >&2; exit 3"}, "text\n", Errors::captured, "sh");
  CHECK(done.output == "text\n");
  CHECK(done.errors == "words\n");
  CHECK(done.status == 3);
}

TEST_CASE("input and output of any length do not wait for each other") {
  std::string long_text;
  for (int i = 0; i < 400000; ++i) long_text += std::to_string(i) + "\n";
  const Finished done = run_process({"tee", "/dev/stderr"}, long_text, Errors::captured, "coreutils");
  CHECK(done.status == 0);
  CHECK((done.output == long_text));
  CHECK((done.errors == long_text));
}

TEST_CASE("a program may end without reading") {
  const std::string long_text(1 << 20, 'x');
  CHECK(run_process({"true"}, long_text, Errors::captured, "coreutils").status == 0);
  CHECK(run_process({"false"}, long_text, Errors::captured, "coreutils").status == 1);
}

TEST_CASE("a program that a signal ends has no exit status") {
  CHECK(run_process({"sh", "-c", "kill -TERM $$"}, "", Errors::captured, "sh").status == -1);
  CHECK_THROWS_AS(run_process({"sh", "-c", "kill -INT $$"}, "", Errors::captured, "sh"), mr::cpu::Interrupted);
}

TEST_CASE("a program that is not there is an error that says how to get it") {
  CHECK_THROWS_WITH(run_process({"no-such-program"}, "", Errors::captured, "a-package"),
                    "no-such-program is not installed (on Debian: apt install a-package)");
}

TEST_CASE("words reach a program as they are, no shell in between") {
  const std::string word = "`date` $(date) 'a' \"b\" *; exit 1";
  CHECK(run_process({"printf", "%s", word}, "", Errors::captured, "coreutils").output == word);
}

TEST_CASE("an interrupt ends the program at once") {
  const auto start = std::chrono::steady_clock::now();
  std::thread later([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    mr::cpu::interrupt();
  });
  CHECK_THROWS_AS(run_process({"sleep", "60"}, "", Errors::captured, "coreutils"), mr::cpu::Interrupted);
  later.join();
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
  CHECK_FALSE(mr::cpu::take_interrupt());
}
