// Tests of the C interface in the way another program uses it: only through its header and its shared library.
#include "runtime/embed/moonrank.h"

#include <cmath>
#include <csignal>
#include <cstring>
#include <limits>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <catch2/catch.hpp>

namespace {

struct State {
  moonrank_state* state = moonrank_open();
  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() { moonrank_close(state); }
  operator moonrank_state*() const { return state; }
  std::string error() const { return moonrank_error(state); }
};

const std::vector<float> grades{1, 0, 0, 1, 0, 1, 0}, scores{3, 2, 2, 1, 2, 1, 1};
const std::vector<int64_t> sizes{4, 3};
const moonrank_lists lists{grades.data(), sizes.data(), 7, 2};

bool has(const std::string& text, const char* word) { return text.find(word) != std::string::npos; }

}  // namespace

TEST_CASE("the library says its version", "[embed]") {
  CHECK(moonrank_api_version() == MOONRANK_API_VERSION);
  CHECK(std::strlen(moonrank_version()) > 0);
}

TEST_CASE("metrics of the caller's arrays", "[embed]") {
  State state;
  double mean = 0, values[2] = {};
  REQUIRE(moonrank_evaluate(state, "rr", scores.data(), MOONRANK_FLOAT32, &lists, &mean, values) == MOONRANK_OK);
  CHECK(values[0] == 1);
  CHECK(values[1] == Approx(5.0 / 12));  // the relevant row ties for ranks 2 and 3: (1/2 + 1/3) / 2
  CHECK(mean == Approx((values[0] + values[1]) / 2));

  SECTION("under a bound, the best ranking has 1 and the worst 0") {
    const double best[3] = {1, 3, 2}, worst[3] = {3, 1, 2};
    const float one[3] = {0, 1, 0};
    const int64_t three = 3;
    const moonrank_lists list{one, &three, 3, 1};
    REQUIRE(moonrank_evaluate(state, "rr:minmax", best, MOONRANK_FLOAT64, &list, &mean, nullptr) == MOONRANK_OK);
    CHECK(mean == Approx(1));
    REQUIRE(moonrank_evaluate(state, "rr:minmax", worst, MOONRANK_FLOAT64, &list, &mean, nullptr) == MOONRANK_OK);
    CHECK(mean == Approx(0).margin(1e-12));
  }
}

TEST_CASE("a loss and its gradient, against differences", "[embed]") {
  State state;
  std::vector<double> x{0.3, -0.2, 0.8, 0.1, 0.4, 0.5, -0.6}, gradient(7);
  for (const char* const loss : {"ndcg", "ap:expectation", "mr.losses.ranknet{bound = 'minmax'}"}) {
    double mean = 0;
    REQUIRE(moonrank_loss(state, loss, x.data(), MOONRANK_FLOAT64, &lists, &mean, gradient.data()) == MOONRANK_OK);
    for (size_t i = 0; i < x.size(); ++i) {
      const double step = 1e-5, was = x[i];
      double above = 0, below = 0;
      x[i] = was + step;
      REQUIRE(moonrank_loss(state, loss, x.data(), MOONRANK_FLOAT64, &lists, &above, nullptr) == MOONRANK_OK);
      x[i] = was - step;
      REQUIRE(moonrank_loss(state, loss, x.data(), MOONRANK_FLOAT64, &lists, &below, nullptr) == MOONRANK_OK);
      x[i] = was;
      CHECK(gradient[i] == Approx((above - below) / (2 * step)).margin(1e-8));
    }
  }
}

TEST_CASE("wrong arguments are errors with a reason, and the state works afterwards", "[embed]") {
  State state;
  double mean = 0;
  CHECK(moonrank_evaluate(state, "ndgc", scores.data(), MOONRANK_FLOAT32, &lists, &mean, nullptr) == MOONRANK_FAILED);
  CHECK(has(state.error(), "ndgc"));
  CHECK(moonrank_evaluate(state, "ndcg", scores.data(), 7, &lists, &mean, nullptr) == MOONRANK_FAILED);
  CHECK(has(state.error(), "7"));
  CHECK(moonrank_evaluate(state, "ndcg", nullptr, MOONRANK_FLOAT32, &lists, &mean, nullptr) == MOONRANK_FAILED);
  CHECK(moonrank_evaluate(state, nullptr, scores.data(), MOONRANK_FLOAT32, &lists, &mean, nullptr) == MOONRANK_FAILED);
  const std::vector<int64_t> wrong{4, 4};
  const moonrank_lists more{grades.data(), wrong.data(), 7, 2};
  CHECK(moonrank_evaluate(state, "ndcg", scores.data(), MOONRANK_FLOAT32, &more, &mean, nullptr) == MOONRANK_FAILED);
  CHECK(has(state.error(), "8"));
  CHECK(moonrank_loss(state, "no loss", scores.data(), MOONRANK_FLOAT32, &lists, &mean, nullptr) == MOONRANK_FAILED);
  CHECK(moonrank_run(state, "error 'wrong'", "mine") == MOONRANK_FAILED);
  CHECK(has(state.error(), "wrong"));
  CHECK(moonrank_run(state, "x = ", "mine") == MOONRANK_FAILED);
  CHECK(has(state.error(), "mine"));
  CHECK(moonrank_run(state, "local function f() return f() + 1 end f()", nullptr) == MOONRANK_FAILED);
  CHECK(moonrank_evaluate(state, "ndcg", scores.data(), MOONRANK_FLOAT32, &lists, &mean, nullptr) == MOONRANK_OK);
  CHECK(state.error().empty());
  CHECK(moonrank_run(nullptr, "", "") == MOONRANK_FAILED);
}

TEST_CASE("scripts share global variables within a state, and not between states", "[embed]") {
  State first, second;
  REQUIRE(moonrank_run(first, "x = 5", "a") == MOONRANK_OK);
  CHECK(moonrank_run(first, "assert(x == 5)", "b") == MOONRANK_OK);
  CHECK(moonrank_run(second, "assert(x == nil)", "c") == MOONRANK_OK);
}

TEST_CASE("an array is read in place and released once", "[embed]") {
  State state;
  float numbers[3] = {1, 2, 3};
  int released = 0;
  moonrank_array array{};
  array.data = numbers;
  array.dtype = MOONRANK_FLOAT32;
  array.dims = 1;
  array.shape[0] = 3;
  array.release = [](void* owner) { ++*static_cast<int*>(owner); };
  array.owner = &released;
  moonrank_reply reply{};
  // the table {"return ...", variables = {x = array 1}} in the binary form that moonrank.sweep.frame gives it
  const auto word = [](const std::string& text) {
    const auto size = static_cast<int64_t>(text.size());
    return "s" + std::string(reinterpret_cast<const char*>(&size), 8) + text;
  };
  const auto number = [](char kind, int64_t value) {
    return kind + std::string(reinterpret_cast<const char*>(&value), 8);
  };
  const auto script = [&](const std::string& code) {
    return number('T', 2) + number('i', 1) + word(code) + word("variables") + number('T', 1) + word("x") +
           number('T', 1) + word(std::string("\0array", 6)) + number('i', 1);
  };
  const auto call = [&](const std::string& code) {
    const std::string values = script(code);
    moonrank_release(&reply);
    return moonrank_call(state, "script", values.data(), values.size(), &array, 1, &reply);
  };

  SECTION("a result that is the argument has its memory, until the caller releases it") {
    REQUIRE(call("return x") == MOONRANK_OK);
    REQUIRE(reply.count == 1);
    const moonrank_array found = reply.arrays[0];
    CHECK(found.data == numbers);
    CHECK(found.shape[0] == 3);
    REQUIRE(moonrank_run(state, "collectgarbage()", "") == MOONRANK_OK);
    CHECK(released == 0);
    found.release(found.owner);
    CHECK(released == 1);
  }
  SECTION("a reply is the caller's: a later call does not change it") {
    REQUIRE(call("return x") == MOONRANK_OK);
    const std::string before(static_cast<const char*>(reply.values), reply.bytes);
    REQUIRE(moonrank_run(state, "return 'another', 'reply'", "") == MOONRANK_OK);
    CHECK(std::string(static_cast<const char*>(reply.values), reply.bytes) == before);
    const moonrank_array found = reply.arrays[0];
    found.release(found.owner);
    moonrank_release(&reply);
    CHECK(reply.values == nullptr);
  }
  SECTION("a release may call the interface") {
    static moonrank_state* of_release = nullptr;
    of_release = state;
    array.release = [](void* owner) {
      if (moonrank_run(of_release, "z = 1", "") == MOONRANK_OK) ++*static_cast<int*>(owner);
    };
    REQUIRE(call("return 1") == MOONRANK_OK);
    REQUIRE(moonrank_run(state, "collectgarbage() collectgarbage()", "") == MOONRANK_OK);
    CHECK(released == 1);
  }
  SECTION("after arguments that are NULL") {
    const std::string values = script("return x");
    CHECK(moonrank_call(state, nullptr, values.data(), values.size(), &array, 1, &reply) == MOONRANK_FAILED);
    CHECK(moonrank_call(state, "script", values.data(), values.size(), &array, 1, nullptr) == MOONRANK_FAILED);
    CHECK(moonrank_call(state, "script", values.data(), values.size(), nullptr, 1, &reply) == MOONRANK_FAILED);
    CHECK(moonrank_call(state, "script", values.data(), values.size(), nullptr, -1, &reply) == MOONRANK_FAILED);
    CHECK(moonrank_call(nullptr, "script", values.data(), values.size(), &array, 1, &reply) == MOONRANK_FAILED);
    CHECK(released == 3);
  }
  SECTION("a tensor that the script keeps is released with the state") {
    REQUIRE(call("y = x") == MOONRANK_OK);
    REQUIRE(moonrank_run(state, "collectgarbage() assert(y:sum():item() == 6)", "") == MOONRANK_OK);
    CHECK(released == 0);
    moonrank_close(state.state);
    state.state = nullptr;
    CHECK(released == 1);
  }
  SECTION("after an error") {
    CHECK(call("error 'x'") == MOONRANK_FAILED);
    array.dims = 9;
    CHECK(call("return x") == MOONRANK_FAILED);
    array.dims = 1;
    array.shape[0] = -1;
    CHECK(call("return x") == MOONRANK_FAILED);
    REQUIRE(moonrank_run(state, "collectgarbage()", "") == MOONRANK_OK);
    CHECK(released == 3);
  }
  moonrank_release(&reply);
}

TEST_CASE("calls do not grow the state's memory", "[embed]") {
  State state;
  double mean = 0;
  const auto calls = [&] {
    for (int i = 0; i < 500; ++i)
      REQUIRE(moonrank_loss(state, "ndcg", scores.data(), MOONRANK_FLOAT32, &lists, &mean, nullptr) == MOONRANK_OK);
  };
  calls();
  REQUIRE(moonrank_run(state, "collectgarbage() collectgarbage() before = collectgarbage 'count'", "") == MOONRANK_OK);
  calls();
  CHECK(moonrank_run(state, "collectgarbage() collectgarbage() assert(collectgarbage 'count' < before + 20)", "") ==
        MOONRANK_OK);
}

TEST_CASE("malformed values are an error", "[embed]") {
  State state;
  moonrank_reply reply{};
  for (const std::string& bytes : {std::string("x"), std::string("T"), std::string("s\x05"), std::string(9, '\xff')}) {
    CHECK(moonrank_call(state, "script", bytes.data(), bytes.size(), nullptr, 0, &reply) == MOONRANK_FAILED);
  }
  CHECK(moonrank_call(state, "no such function", "n", 1, nullptr, 0, &reply) == MOONRANK_FAILED);
}

TEST_CASE("calls of several threads follow one another", "[embed]") {
  std::vector<double> means(4);
  std::vector<std::thread> threads;
  for (double& mean : means) {
    threads.emplace_back([&mean] {
      State state;
      for (int i = 0; i < 20; ++i)
        moonrank_evaluate(state, "ndcg", scores.data(), MOONRANK_FLOAT32, &lists, &mean, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const double mean : means) CHECK((mean == means[0] && mean > 0));
}

TEST_CASE("Ctrl-C stops a call if asked, and the caller's handler is back afterwards", "[embed]") {
  State state;
  struct sigaction before {
  }, after{};
  sigaction(SIGINT, nullptr, &before);
  moonrank_watch_interrupts(state, 1);
  std::thread presses([self = pthread_self()] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    pthread_kill(self, SIGINT);
  });
  CHECK(moonrank_run(state, "while true do end", "endless") == MOONRANK_INTERRUPTED);
  presses.join();
  sigaction(SIGINT, nullptr, &after);
  CHECK(before.sa_handler == after.sa_handler);
  CHECK(moonrank_run(state, "x = 1", "short") == MOONRANK_OK);
}

TEST_CASE("the number of threads is set and kept within its limits", "[embed]") {
  const int before = moonrank_threads(0);
  CHECK(before >= 1);
  CHECK(moonrank_threads(2) == 2);
  CHECK(moonrank_threads(-1) == 2);
  CHECK(moonrank_threads(before) == before);
}

TEST_CASE("a forked child computes with threads of its own", "[embed]") {
  State state;
  REQUIRE(moonrank_run(state, "mr = require 'moonrank'; big = mr.normal({200000}); sum = big:sum():item()", "a") ==
          MOONRANK_OK);
  const int before = moonrank_threads(2);
  const pid_t child = fork();
  if (child == 0) _exit(moonrank_run(state, "assert(big:sum():item() == sum and mr.threads() == 2)", "b"));
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  moonrank_threads(before);
}

TEST_CASE("a step of a training loop is the mean loss and its gradient", "[embed]") {
  State state;
  const auto word = [](const std::string& text) {
    const auto size = static_cast<int64_t>(text.size());
    return "s" + std::string(reinterpret_cast<const char*>(&size), 8) + text;
  };
  const int64_t one = 1;
  const std::string values = "T" + std::string(reinterpret_cast<const char*>(&one), 8) + word("loss") + word("ndcg");
  moonrank_reply reply{};
  REQUIRE(moonrank_call(state, "loss", values.data(), values.size(), nullptr, 0, &reply) == MOONRANK_OK);
  moonrank_release(&reply);
  std::vector<float> x = scores, gradient(7), expected(7);
  float value = 0;
  int released = 0;
  moonrank_step step{};
  step.loss = 1;
  step.rows = 7;
  step.count = 2;
  step.grades = grades.data();
  step.sizes = sizes.data();
  step.scores = x.data();
  step.release = [](void* owner) { ++*static_cast<int*>(owner); };
  step.owner = &released;
  step.values = &value;
  step.gradient = gradient.data();
  step.draw_again = -1;

  SECTION("like moonrank_loss") {
    REQUIRE(moonrank_loss_step(state, &step) == MOONRANK_OK);
    double mean = 0;
    REQUIRE(moonrank_loss(state, "ndcg", x.data(), MOONRANK_FLOAT32, &lists, &mean, expected.data()) == MOONRANK_OK);
    CHECK(value == static_cast<float>(mean));
    CHECK(gradient == expected);
    REQUIRE(moonrank_run(state, "collectgarbage()", "") == MOONRANK_OK);
    CHECK(released == 1);
  }

  SECTION("a value per list") {
    float each[2] = {};
    const float weights[2] = {1, 2};
    step.reduction = 2;
    step.values = each;
    CHECK(moonrank_loss_step(state, &step) == MOONRANK_FAILED);  // without `upstream`
    step.upstream = weights;
    REQUIRE(moonrank_loss_step(state, &step) == MOONRANK_OK);
    CHECK(each[0] != each[1]);
  }

  SECTION("wrong arguments are errors, and the scores are released") {
    x[2] = std::numeric_limits<float>::quiet_NaN();
    CHECK(moonrank_loss_step(state, &step) == MOONRANK_FAILED);
    CHECK(has(state.error(), "row 2"));
    CHECK(released == 1);
    x[2] = 0;
    step.loss = 7;
    CHECK(moonrank_loss_step(state, &step) == MOONRANK_FAILED);
    CHECK(has(state.error(), "loss is 7"));
    step.loss = 1;
    step.rows = 6;
    CHECK(moonrank_loss_step(state, &step) == MOONRANK_FAILED);
    CHECK(has(state.error(), "7"));
    step.rows = 7;
    step.reduction = 3;
    CHECK(moonrank_loss_step(state, &step) == MOONRANK_FAILED);
    CHECK(moonrank_loss_step(state, nullptr) == MOONRANK_FAILED);
    step.release = nullptr;
    step.reduction = 0;
    CHECK(moonrank_loss_step(state, &step) == MOONRANK_OK);
  }
}
