#include "runtime/io/processes/process.h"

#include <chrono>
#include <csignal>
#include <thread>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "kernels/core/threads.h"

using mr::io::Errors;
using mr::io::Finished;
using mr::io::run_process;

TEST_CASE("run_process passes input and returns output, errors and exit status") {
  const Finished done = run_process({"sh", "-c", "cat; echo words >&2; exit 3"}, "text\n", Errors::captured, "sh");
  CHECK(done.output == "text\n");
  CHECK(done.errors == "words\n");
  CHECK(done.status == 3);
}

TEST_CASE("run_process does not deadlock with long input and output") {
  std::string long_text;
  for (int i = 0; i < 400000; ++i) long_text += std::to_string(i) + "\n";
  const Finished done = run_process({"tee", "/dev/stderr"}, long_text, Errors::captured, "coreutils");
  CHECK(done.status == 0);
  CHECK((done.output == long_text));
  CHECK((done.errors == long_text));
}

TEST_CASE("run_process accepts a program that ends without reading its input") {
  const std::string long_text(1 << 20, 'x');
  CHECK(run_process({"true"}, long_text, Errors::captured, "coreutils").status == 0);
  CHECK(run_process({"false"}, long_text, Errors::captured, "coreutils").status == 1);
}

TEST_CASE("run_process returns status -1 if a signal ends the program") {
  CHECK(run_process({"sh", "-c", "kill -TERM $$"}, "", Errors::captured, "sh").status == -1);
  CHECK_THROWS_AS(run_process({"sh", "-c", "kill -INT $$"}, "", Errors::captured, "sh"), mr::cpu::Interrupted);
}

TEST_CASE("run_process says how to install a program that is missing") {
  CHECK_THROWS_WITH(run_process({"no-such-program"}, "", Errors::captured, "a-package"),
                    Catch::StartsWith("no-such-program ") && Catch::Contains("apt install a-package"));
}

TEST_CASE("run_process passes arguments without a shell") {
  const std::string word = "`date` $(date) 'a' \"b\" *; exit 1";
  CHECK(run_process({"printf", "%s", word}, "", Errors::captured, "coreutils").output == word);
}

TEST_CASE("an interrupt ends run_process and its program at once") {
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
