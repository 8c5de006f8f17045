// Tests of scratch arrays: a thread keeps the small arrays that short lists need, and frees the large arrays of a long
// list.
#include "kernels/core/scratch.h"

#include <atomic>
#include <malloc.h>
#include <thread>

#include "kernels/core/threads.h"
#include "tests/support/lua_state.h"

namespace mr::cpu {
namespace {

TEST_CASE("Kept keeps scratch arrays up to a total size and frees larger ones", "[kernels][memory]") {
  const auto half = static_cast<size_t>(most_kept / 2);
  std::vector<char> a, b;
  {
    const Kept kept(a, b);
    a.resize(half);
    b.resize(half);
  }
  CHECK((a.size() == half && b.size() == half));
  {
    const Kept kept(a, b);
    b.push_back('x');
  }
  CHECK((a.capacity() == 0 && b.capacity() == 0));
}

std::atomic<int> counted{0};

struct Counted {
  Counted() { ++counted; }
  ~Counted() { --counted; }
  int value = 0;
};

int& own_number() {
  static constinit thread_local OfThread<Counted> mine;
  return mine.get().value;
}

TEST_CASE("OfThread holds one value per thread, which is created once and freed when the thread ends",
          "[kernels][memory]") {
  own_number() = 7;
  const int before = counted;
  int seen = -1, again = -1;
  std::thread([&] {
    seen = own_number();
    own_number() = 3;
    again = own_number();
  }).join();
  CHECK((seen == 0 && again == 3));
  CHECK(counted == before);
  CHECK(own_number() == 7);
}

/// Bytes of heap memory in use, without those of tensors. Only differences are meaningful: the allocator of a sanitizer
/// reports 0 bytes in use.
int64_t other_bytes() {
  const auto info = mallinfo2();
  return static_cast<int64_t>(info.uordblks + info.hblkhd) - Storage::held(Device::cpu) - Storage::kept(Device::cpu);
}

TEST_CASE("operations on long lists keep little scratch memory afterwards", "[kernels][memory]") {
  const int before_threads = threads();
  set_threads(1);
  test::LuaState L;
  const auto run = [&](int64_t rows, int64_t sd) {
    CHECK(L.error_of("local n, sd = " + std::to_string(rows) + ", " + std::to_string(sd) + R"(
      local lists = mr.lists{ sizes = { n }, relevance = mr.arange(1, n):ge(n - n / 4) }
      local few = mr.lists{ sizes = { n }, relevance = mr.arange(1, n):ge(n - 2) }
      for _, dtype in ipairs{ "float32", "float64" } do
        local scores = mr.normal({ n }, { sd = sd, dtype = dtype }):requires_grad()
        mr.smooth.ap(scores, lists):sum():backward()
        mr.smooth.rr(scores, few):sum():backward()
        mr.losses.lambdarank()(scores, few):sum():backward()
        for _, ties in ipairs{ "mean", "worst" } do
          mr.metrics.ap(scores, lists, { ties = ties })
        end
      end)") == "");
    L.collect();
  };
  run(100, 1);
  run(100, 1000000);
  const int64_t before = other_bytes();
  run(1000000, 1);
  run(100000, 1000000);                           // widely spread scores: most pairs are far apart
  CHECK(other_bytes() - before < 8 * most_kept);  // about 8 scratch arrays, each of which keeps at most most_kept bytes
  set_threads(before_threads);
}

}  // namespace
}  // namespace mr::cpu
