// Tests of the thread pool: every index runs exactly once for any number of threads; also errors, interruption and
// nested calls.
#include "kernels/core/threads.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <catch2/catch.hpp>

#include "kernels/core/launch_cpu.h"

namespace mr::cpu {
namespace {

/// Sets the number of threads for one scope and restores it at the end.
class Threads {
 public:
  explicit Threads(int n) : before_(threads()) { set_threads(n); }
  ~Threads() { set_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

template <class F>
void pieces(int64_t count, int64_t grain, const F& f) {
  parallel(
      count, grain,
      [](const void* context, int64_t first, int64_t last) { (*static_cast<const F*>(context))(first, last); }, &f);
}

using Piece = std::pair<int64_t, int64_t>;

std::set<Piece> expected_pieces(int64_t count, int64_t grain) {
  std::set<Piece> out;
  for (int64_t first = 0; first < count; first += grain) out.emplace(first, std::min(count, first + grain));
  return out;
}

TEST_CASE("parallel visits every index once, in the same pieces for any number of threads", "[kernels][pool]") {
  const int n_threads = GENERATE(1, 2, 3, 4);
  const int64_t count = GENERATE(as<int64_t>(), 0, 1, 2, 7, 8, 9, 31, 32, 33, 127, 128, 129, 1000);
  const int64_t grain = GENERATE(as<int64_t>(), 1, 3, 8, 1000, 4096);
  const Threads with(n_threads);
  REQUIRE(threads() == n_threads);
  std::vector<std::atomic<int>> visits(static_cast<size_t>(count));
  std::mutex mutex;
  std::set<Piece> seen;
  pieces(count, grain, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) ++visits[i];
    const std::lock_guard lock(mutex);
    seen.emplace(first, last);
  });
  CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
  CHECK(seen == expected_pieces(count, grain));
}

TEST_CASE("parallel gives results that do not depend on the number of threads", "[kernels][pool]") {
  std::vector<double> first_result;
  for (int n = 1; n <= 4; ++n) {
    const Threads with(n);
    std::vector<double> partial(100, 0.0);
    pieces(10000, 100, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i) partial[first / 100] += 1.0 / (1.0 + static_cast<double>(i));
    });
    if (n == 1) first_result = partial;
    CHECK(partial == first_result);
  }
}

TEST_CASE("parallel runs on more than one thread", "[kernels][pool]") {
  const Threads with(2);
  std::mutex mutex;
  std::set<std::thread::id> ids;
  // Each of two pieces waits until both have started, which takes two threads. After 20 seconds it gives up: the pool
  // uses one thread only.
  std::atomic<int> here{0};
  pieces(2, 1, [&](int64_t, int64_t) {
    ++here;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (here < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
    const std::lock_guard lock(mutex);
    ids.insert(std::this_thread::get_id());
  });
  CHECK(ids.size() == 2);
}

TEST_CASE("parallel gives each thread its own share of the pieces at the start", "[kernels][pool]") {
  const Threads with(2);
  std::mutex mutex;
  std::map<std::thread::id, int64_t> began;
  // The first piece of each thread waits until the other thread has started one, or gives up after some seconds.
  std::atomic<int> here{0};
  pieces(100, 1, [&](int64_t first, int64_t) {
    {
      const std::lock_guard lock(mutex);
      if (!began.emplace(std::this_thread::get_id(), first).second) return;
    }
    ++here;
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
    while (here < 2 && std::chrono::steady_clock::now() < end) std::this_thread::yield();
  });
  REQUIRE(began.size() == 2);
  CHECK(began[std::this_thread::get_id()] == 0);
  began.erase(std::this_thread::get_id());
  CHECK(began.begin()->second == 50);
}

TEST_CASE("parallel_by_cost calls each task once, and deals long ones evenly to the threads", "[kernels][pool]") {
  const int n = GENERATE(1, 2, 3, 64);
  const int64_t count = GENERATE(0, 1, 2, 3, 31, 33, 256);
  const Threads restore(n);
  CAPTURE(n, count);
  std::vector<double> costs;
  for (int64_t i = 0; i < count; ++i) costs.push_back(1000 * static_cast<double>(i * 37 % 101));
  std::vector<std::atomic<int>> calls(costs.size());
  parallel_by_cost(
      count, [&](int64_t i) { return costs[i]; }, [&](int64_t i) { ++calls[i]; });
  CHECK(std::all_of(calls.begin(), calls.end(), [](const auto& each) { return each == 1; }));

  const std::vector<int64_t> order = dealt_by_cost(costs);
  if (n != 2 || count < 3) return;
  // the first half of the order is the first thread's share, the second half the other one's
  const auto half = order.begin() + (count + 1) / 2;
  const auto larger = [&](int64_t a, int64_t b) { return costs[a] > costs[b]; };
  CHECK(std::is_sorted(order.begin(), half, larger));
  CHECK(std::is_sorted(half, order.end(), larger));
  double difference = 0;
  for (auto at = order.begin(); at != order.end(); ++at) difference += at < half ? costs[*at] : -costs[*at];
  CHECK(std::fabs(difference) <= *std::max_element(costs.begin(), costs.end()));
}

TEST_CASE("parallel passes an exception to the caller and works again afterwards", "[kernels][pool]") {
  const Threads with(GENERATE(1, 2, 4));
  const int64_t bad = GENERATE(as<int64_t>(), 0, 57, 99);
  CHECK_THROWS_WITH(pieces(100, 1,
                           [&](int64_t first, int64_t) {
                             if (first == bad) throw std::runtime_error("piece " + std::to_string(first));
                           }),
                    "piece " + std::to_string(bad));
  std::atomic<int64_t> sum{0};
  pieces(100, 1, [&](int64_t first, int64_t) { sum += first; });
  CHECK(sum == 4950);
}

TEST_CASE("parallel within a task runs on the task's thread in the same pieces", "[kernels][pool]") {
  const Threads with(GENERATE(1, 3));
  std::atomic<int> elsewhere{0}, wrong{0};
  std::atomic<int64_t> visits{0};
  pieces(20, 1, [&](int64_t, int64_t) {
    const auto caller = std::this_thread::get_id();
    std::set<Piece> seen;
    pieces(10, 4, [&](int64_t first, int64_t last) {
      if (std::this_thread::get_id() != caller) ++elsewhere;
      visits += last - first;
      seen.emplace(first, last);
    });
    if (seen != expected_pieces(10, 4)) ++wrong;
  });
  CHECK(elsewhere == 0);
  CHECK(wrong == 0);
  CHECK(visits == 200);
}

TEST_CASE("parallel cuts counts near 2^63 into the right pieces without overflow", "[kernels][pool]") {
  const Threads with(GENERATE(1, 3));
  constexpr int64_t most = std::numeric_limits<int64_t>::max(), half = int64_t{1} << 62;
  const auto cut = [](int64_t count, int64_t grain) {
    std::mutex mutex;
    std::set<Piece> seen;
    pieces(count, grain, [&](int64_t first, int64_t last) {
      const std::lock_guard lock(mutex);
      if (!seen.emplace(first, last).second || seen.size() > 4) throw std::runtime_error("too many pieces");
    });
    return seen;
  };
  CHECK(cut(most, half) == std::set<Piece>{{0, half}, {half, most}});
  CHECK(cut(most, most) == std::set<Piece>{{0, most}});
  CHECK(cut(most - 1, most) == std::set<Piece>{{0, most - 1}});
  CHECK(cut(half, most) == std::set<Piece>{{0, half}});
  CHECK(cut(most, most - 1) == std::set<Piece>{{0, most - 1}, {most - 1, most}});
  pieces(1, 1, [&](int64_t, int64_t) { CHECK(cut(most, half).size() == 2); });  // within a task
}

TEST_CASE("an interruption stops parallel, is thrown once and is cleared", "[kernels][pool]") {
  const Threads with(GENERATE(1, 2, 4));
  std::atomic<int> done{0};
  CHECK_THROWS_AS(pieces(100000, 1,
                         [&](int64_t first, int64_t) {
                           if (first == 10) interrupt();
                           ++done;
                         }),
                  Interrupted);
  CHECK(done < 100000);
  CHECK_FALSE(take_interrupt());
  done = 0;
  pieces(100, 1, [&](int64_t, int64_t) { ++done; });
  CHECK(done == 100);

  interrupt();
  CHECK_THROWS_AS(pieces(1, 1, [&](int64_t, int64_t) { ++done; }), Interrupted);
  CHECK(done == 100);
  CHECK_NOTHROW(check_interrupt());
}

TEST_CASE("an interruption and a failure of another piece end long pieces on all threads", "[kernels][pool]") {
  const Threads with(3);
  const auto fails = GENERATE(false, true);
  std::atomic<int> begun{0}, ended_early{0};
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const auto wait = [&](int64_t first, int64_t) {
    ++begun;
    while (begun < 3 && std::chrono::steady_clock::now() < give_up) std::this_thread::yield();
    if (first == 0 && fails) throw std::runtime_error("out of paper");
    if (first == 0) interrupt();
    try {
      while (std::chrono::steady_clock::now() < give_up) check_interrupt();
    } catch (const Interrupted&) {
      ++ended_early;
      throw;
    }
  };
  if (fails) {
    CHECK_THROWS_WITH(pieces(3, 1, wait), "out of paper");
  } else {
    CHECK_THROWS_AS(pieces(3, 1, wait), Interrupted);
  }
  CHECK(ended_early == (fails ? 2 : 3));
  CHECK_FALSE(take_interrupt());
}

TEST_CASE("parallel can be called from several outside threads at the same time", "[kernels][pool]") {
  const Threads with(3);
  std::atomic<int64_t> sum{0};
  const auto caller = [&] {
    for (int round = 0; round < 200; ++round) pieces(16, 1, [&](int64_t first, int64_t) { sum += first; });
  };
  std::thread other(caller);
  caller();
  other.join();
  CHECK(sum == 2 * 200 * 120);
}

TEST_CASE("parallel visits every index in many small calls while the number of threads changes", "[kernels][pool]") {
  const Threads with(1);
  int64_t total = 0;
  for (int round = 0; round < 300; ++round) {
    if (round % 10 == 0) set_threads(1 + round / 10 % 4);
    if (round % 100 == 50) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    std::atomic<int64_t> sum{0};
    pieces(round, 1, [&](int64_t first, int64_t) { sum += first; });
    total += sum - int64_t{round} * (round - 1) / 2;
  }
  CHECK(total == 0);
}

TEST_CASE("set_threads refuses numbers below one and calls within a task", "[kernels][pool]") {
  CHECK_THROWS_WITH(set_threads(0), Catch::Contains("threads: ") && Catch::Contains(" 0"));
  CHECK_THROWS_AS(set_threads(-3), std::invalid_argument);
  const Threads with(2);
  CHECK_THROWS_AS(pieces(4, 1, [](int64_t, int64_t) { set_threads(1); }), std::logic_error);
  CHECK(threads() == 2);
}

TEST_CASE("work ahead is done once, before finish returns, beside other loops", "[kernels][pool]") {
  const int n_threads = GENERATE(1, 2, 3, 4);
  const int64_t count = GENERATE(as<int64_t>(), 0, 1, 31, 32, 33, 1000);
  const Threads with(n_threads);
  std::vector<std::atomic<int>> first(static_cast<size_t>(count)), second(first.size());
  const auto visit = [](std::vector<std::atomic<int>>& visits) {
    return [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) ++visits[i];
    };
  };
  Ahead one(count, 8, visit(first)), two(count, 8, visit(second));
  std::atomic<int64_t> sum{0};
  for (int loop = 0; loop < 20; ++loop) {
    pieces(100, 1, [&](int64_t begin, int64_t) { sum += begin; });
  }
  CHECK(sum == 20 * 4950);
  const bool in_order = GENERATE(true, false);
  for (Ahead* const each : {in_order ? &one : &two, in_order ? &two : &one}) each->finish();
  one.finish();
  for (const auto* visits : {&first, &second})
    CHECK(std::all_of(visits->begin(), visits->end(), [](const auto& v) { return v == 1; }));
}

TEST_CASE("idle threads begin work ahead before finish", "[kernels][pool]") {
  const Threads with(2);
  std::atomic<int> done{0};
  Ahead work(10, 1, [&](int64_t, int64_t) { ++done; });
  for (int i = 0; i < 10000 && done < 10; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  CHECK(done == 10);
}

TEST_CASE("work ahead that is dropped leaves out what has not begun and waits for what has", "[kernels][pool]") {
  const int n_threads = GENERATE(1, 2, 4);
  const Threads with(n_threads);
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> running{0};
    {
      const Ahead work(1000000, 1, [&](int64_t, int64_t) {
        ++running;
        std::this_thread::yield();
        --running;
      });
      pieces(4, 1, [](int64_t, int64_t) {});
    }
    CHECK(running == 0);
  }
}

TEST_CASE("errors and Ctrl-C in work ahead are raised by finish, which then does all work again", "[kernels][pool]") {
  const int n_threads = GENERATE(1, 2, 4);
  const Threads with(n_threads);
  std::atomic<bool> fails{true};
  std::vector<std::atomic<int>> visits(100);
  Ahead work(100, 1, [&](int64_t i, int64_t) {
    if (fails && i == 50) throw std::runtime_error("piece 50");
    ++visits[i];
  });
  CHECK_THROWS_WITH(work.finish(), "piece 50");
  fails = false;
  interrupt();
  CHECK_THROWS_AS(work.finish(), Interrupted);
  for (auto& each : visits) each = 0;
  work.finish();
  CHECK(std::all_of(visits.begin(), visits.end(), [](const auto& v) { return v == 1; }));
}

TEST_CASE("Ctrl-C ends a loop, not the work ahead that runs beside it", "[kernels][pool]") {
  const Threads with(2);
  std::atomic<int> visits{0};
  Ahead work(2000, 1, [&](int64_t, int64_t) { ++visits; });
  interrupt();
  CHECK_THROWS_AS(pieces(1000, 1, [](int64_t, int64_t) {}), Interrupted);
  work.finish();
  CHECK(visits == 2000);
}

TEST_CASE("work ahead survives a change of the number of threads, and may be finished inside a loop",
          "[kernels][pool]") {
  const Threads with(3);
  std::atomic<int> visits{0};
  const auto visit = [&](int64_t, int64_t) { ++visits; };
  Ahead one(500, 1, visit), two(500, 1, visit);
  set_threads(1);
  one.finish();
  set_threads(2);
  pieces(8, 1, [&](int64_t begin, int64_t) {
    if (begin == 3) two.finish();
  });
  CHECK(visits == 1000);
}

}  // namespace
}  // namespace mr::cpu
