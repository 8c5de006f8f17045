#include "runtime/models/long_call.h"

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include <catch2/catch.hpp>

#include "kernels/core/threads.h"

namespace mr {

TEST_CASE("LongCall::run waits for the call and throws its exception") {
  LongCall call;
  int calls = 0;
  call.run([&] { ++calls; });
  CHECK(calls == 1);
  CHECK_THROWS_WITH(call.run([] { throw std::runtime_error("no room"); }), "no room");
  call.settle();
}

TEST_CASE("Ctrl-C ends the wait of LongCall::run while the call goes on") {
  LongCall call;
  const auto ended = std::make_shared<std::atomic<bool>>(false);
  const auto go_on = std::make_shared<std::atomic<bool>>(false);
  cpu::interrupt();
  CHECK_THROWS(call.run([=] {
    while (!*go_on) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    *ended = true;
  }));
  CHECK_FALSE(*ended);
  *go_on = true;
  call.settle();
  CHECK(*ended);
}

}  // namespace mr
