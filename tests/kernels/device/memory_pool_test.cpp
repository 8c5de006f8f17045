// Tests of the pool that reuses freed device memory, on a made-up device with 4096 bytes and on the real or emulated
// GPU.
#include "kernels/device/memory_pool.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <map>
#include <new>
#include <set>
#include <vector>

#include "kernels/core/block_size.h"
#include "runtime/tensor/storage.h"
#include "tests/support/devices.h"

namespace mr {
namespace {

TEST_CASE("block_size is at least the requested size and at most a quarter larger", "[pool]") {
  for (int bit = 0; bit < 63; ++bit) {
    for (const int64_t bytes : {(int64_t{1} << bit) - 1, int64_t{1} << bit, (int64_t{1} << bit) + 1}) {
      CHECK(block_size(bytes) >= bytes);
      CHECK(block_size(bytes) - bytes <= std::max<int64_t>(63, bytes / 4));
    }
  }
  CHECK(block_size(std::numeric_limits<int64_t>::max()) == std::numeric_limits<int64_t>::max());
}

/// A made-up device with 4096 bytes of memory, which counts the bytes that are left.
struct Device4K {
  static inline int64_t left = 4096;
  static inline std::map<void*, int64_t> out;
  static void* take(int64_t bytes) {
    if (bytes > left) return nullptr;
    void* const data = std::malloc(static_cast<size_t>(bytes));
    out[data] = bytes;
    left -= bytes;
    return data;
  }
  static void give_back(void* data) {
    left += out.at(data);
    out.erase(data);
    std::free(data);
  }
  Device4K() { left = 4096; }
  ~Device4K() {
    for (const auto& [data, bytes] : out) std::free(data);
    out.clear();
  }
};

TEST_CASE("Pool reuses a released block for the next request of its size", "[kernels][pool]") {
  const Device4K device;
  cuda::Pool pool(&Device4K::take, &Device4K::give_back);
  void* const a = pool.allocate(100);
  void* const b = pool.allocate(100);
  CHECK(a != b);
  CHECK(pool.held() == 256);
  pool.release(a);
  CHECK(pool.held() == 128);
  CHECK(pool.kept() == 128);
  CHECK(pool.allocate(300) != a);
  CHECK(pool.allocate(127) == a);
  CHECK(pool.kept() == 0);
  pool.release(nullptr);
}

TEST_CASE("Pool gives back its kept blocks if memory runs out, and throws if that is not enough", "[kernels][pool]") {
  const Device4K device;
  cuda::Pool pool(&Device4K::take, &Device4K::give_back);
  std::vector<void*> small;
  for (int i = 0; i < 16; ++i) small.push_back(pool.allocate(256));
  CHECK(Device4K::left == 0);
  CHECK_THROWS_AS(pool.allocate(1), std::bad_alloc);
  CHECK(pool.held() == 4096);
  for (size_t i = 1; i < small.size(); ++i) pool.release(small[i]);
  CHECK(pool.kept() == 15 * 256);
  void* const large = pool.allocate(2048);
  CHECK(pool.kept() == 0);
  CHECK(pool.held() == 2048 + 256);
  CHECK_THROWS_AS(pool.allocate(4096), std::bad_alloc);
  pool.release(large);
  pool.release(small[0]);
  pool.give_back();
  CHECK(Device4K::left == 4096);
}

TEST_CASE("Pool hands out blocks of a recording only after its graph is forgotten", "[kernels][pool]") {
  const Device4K device;
  cuda::Pool pool(&Device4K::take, &Device4K::give_back);
  void* const before = pool.allocate(64);
  void* const waiting = pool.allocate(64);
  pool.release(waiting);
  pool.begin_capture();
  void* const first = pool.allocate(64);
  // The recording must not use a block that was released before it began: earlier work may still use the block, and
  // each run of the recording would overwrite it.
  CHECK(first != waiting);
  pool.release(before);
  void* const second = pool.allocate(64);
  // not reused: every run of the recording may read the memory that was released while it was recorded
  CHECK(second != before);
  pool.release(second);
  // within a recording, memory that the recording allocated and released is used again
  CHECK(pool.allocate(64) == second);
  const uint64_t graph = pool.end_capture();
  CHECK(pool.allocate(64) == waiting);
  pool.release(first);
  pool.release(second);
  std::set<void*> others;
  for (int i = 0; i < 4; ++i) others.insert(pool.allocate(64));
  CHECK(others.count(first) + others.count(second) + others.count(before) == 0);
  for (void* const other : others) pool.release(other);
  pool.forget(graph);
  others.clear();
  for (int i = 0; i < 7; ++i) others.insert(pool.allocate(64));
  CHECK(others.count(first) + others.count(second) + others.count(before) == 3);
}

TEST_CASE("Pool frees the blocks of two graphs in either order", "[kernels][pool]") {
  const bool older_first = GENERATE(false, true);
  const Device4K device;
  cuda::Pool pool(&Device4K::take, &Device4K::give_back);
  uint64_t graphs[2];
  void* blocks[2];
  for (int i = 0; i < 2; ++i) {
    pool.begin_capture();
    blocks[i] = pool.allocate(64);
    pool.release(blocks[i]);
    graphs[i] = pool.end_capture();
  }
  CHECK(blocks[0] != blocks[1]);
  pool.forget(graphs[older_first ? 0 : 1]);
  std::set<void*> others{pool.allocate(64)};
  // A graph reserves all released blocks that existed when its recording ended: the later graph both blocks, the
  // earlier graph only the first one.
  CHECK(others.count(blocks[0]) == 0);
  CHECK(others.count(blocks[1]) == (older_first ? 0U : 1U));
  pool.forget(graphs[older_first ? 1 : 0]);
  for (int i = 0; i < 3; ++i) others.insert(pool.allocate(64));
  CHECK(others.count(blocks[0]) + others.count(blocks[1]) == 2);
}

TEST_CASE("tensors on the GPU take memory from the pool and release it to the pool", "[kernels][gpu][pool]") {
  if (!test::has(Device::cuda)) return;
  const int64_t held = Storage::held(Device::cuda);
  void* data = nullptr;
  {
    const Storage storage(1 << 20, Device::cuda);
    data = storage.data();
    CHECK(Storage::held(Device::cuda) == held + (1 << 20));
  }
  CHECK(Storage::held(Device::cuda) == held);
  CHECK(Storage::kept(Device::cuda) >= 1 << 20);
  const int64_t kept = Storage::kept(Device::cuda);
  const Storage again(1 << 20, Device::cuda);
  CHECK(again.data() == data);
  CHECK(Storage::kept(Device::cuda) < kept);
}

}  // namespace
}  // namespace mr
