// The emulated GPU behind kernels/device/device.h: an arena of memory that is closed to the host between operations.
#include "kernels/device/device.h"

#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include "kernels/device/capture.h"
#include "kernels/device/lost.h"
#include "kernels/device/memory_pool.h"
#include "kernels/device/staging.h"
#include "tests/support/emulated_gpu/memory.h"

namespace mr {
namespace {

constexpr size_t arena_bytes = size_t{16} << 30;
constexpr size_t canary_bytes = 64;
constexpr unsigned char canary = 0xA5, fresh = 0xFF;  // fresh floating memory is NaN

/// Bytes asked for; memory of a recording serves several tensors in turn, each time that it is run.
struct Block {
  size_t bytes;
  bool shared;
};

struct Arena {
  char* base = nullptr;
  size_t used = 0;
  int open = 0;
  int64_t accesses = 0, waits = 0;
  bool closed = true, backward = false;
  int64_t allocations_left = -1;  // below 0: as many as there is memory for
  cuda::StagingPlaces places;
  std::array<bool, cuda::StagingPlaces::pieces> in_flight{};  // the host is always ahead: copies are done when it waits
  std::vector<char> staging = std::vector<char>(cuda::StagingPlaces::all_bytes);
  std::map<char*, Block> live;
  std::map<char*, size_t> rooms;  // bytes of address space
  std::map<size_t, std::vector<char*>> free;

  Arena() {
    void* const at = mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    base = static_cast<char*>(at);
  }

  void protect(int protection) const {
    if (used > 0 && mprotect(base, used, protection) != 0) throw std::runtime_error("the emulated GPU: mprotect");
  }

  /// Closing costs a system call: the first accesses are each followed by it, later ones now and then.
  bool closes_now() { return ++accesses < 500 || accesses % 64 == 0; }

  /// The live block that a pointer is in, or one past its end.
  bool holds(const char* pointer) const {
    auto at = live.upper_bound(const_cast<char*>(pointer));
    if (at == live.begin()) return false;
    --at;
    return pointer <= at->first + at->second.bytes;
  }
};

/// Never destroyed: tensors may be released after static objects are gone.
Arena& arena() {
  alignas(Arena) static char memory[sizeof(Arena)];
  static Arena* const the_arena = new (memory) Arena;
  return *the_arena;
}

// Words below that are numbers. AddressSanitizer's own map of low memory looks like memory of the program.
#ifdef __SANITIZE_ADDRESS__
constexpr uint64_t least_address = 0x10007fff8000;
#else
constexpr uint64_t least_address = uint64_t{1} << 32;
#endif

bool mapped(uint64_t address) { return msync(reinterpret_cast<void*>(address & ~uint64_t{4095}), 4096, MS_ASYNC) == 0; }

size_t room_for(int64_t bytes) { return std::bit_ceil(std::max<size_t>(static_cast<size_t>(bytes), 4096)); }

}  // namespace

namespace test {

DeviceAccess::DeviceAccess() {
  if (arena().open++ == 0 && arena().closed) {
    arena().protect(PROT_READ | PROT_WRITE);
    arena().closed = false;
  }
}
DeviceAccess::~DeviceAccess() {
  if (--arena().open == 0 && arena().closes_now()) {
    arena().protect(PROT_NONE);
    arena().closed = true;
  }
}

void check_pointers(const void* work, size_t bytes, const char* kernel) {
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(work) + at, sizeof word);
    if (word < least_address || word >= (uint64_t{1} << 47)) continue;
    const auto* const pointer = reinterpret_cast<const char*>(word);
    if (pointer >= arena().base && pointer < arena().base + arena_bytes) {
      if (!arena().holds(pointer)) throw std::logic_error(std::string("released device memory reaches ") + kernel);
    } else if (mapped(word)) {
      throw std::logic_error(std::string("a pointer to host memory reaches ") + kernel);
    }
  }
}

void run_out_of_memory_after(int64_t allocations) { arena().allocations_left = allocations; }

bool next_launch_is_backward() { return arena().backward = !arena().backward; }

}  // namespace test

namespace cuda {

bool built() { return true; }
bool available() { return true; }
int devices() { return 1; }
const char* reason() { return ""; }
std::string device_name() { return "emulated GPU"; }
int64_t memory_bytes() { return static_cast<int64_t>(arena_bytes); }
int64_t free_bytes() { return static_cast<int64_t>(arena_bytes - arena().used); }

namespace {
void* take(int64_t bytes) {
  Arena& a = arena();
  std::vector<char*>& reusable = a.free[room_for(bytes)];
  if (!reusable.empty()) {
    char* const data = reusable.back();
    reusable.pop_back();
    return data;
  }
  if (a.used + room_for(bytes) > arena_bytes) return nullptr;
  char* const data = a.base + a.used;
  a.used += room_for(bytes);
  a.closed = true;  // this part of it
  a.rooms[data] = room_for(bytes);
  return data;
}

void give_back(void* data) {
  arena().free[arena().rooms.at(static_cast<char*>(data))].push_back(static_cast<char*>(data));
}

}  // namespace

Pool& device_pool() {
  static Pool* const the_pool = std::make_unique<Pool>(&take, &give_back).release();
  return *the_pool;
}

void* allocate(int64_t n) {
  require_not_lost();
  if (n <= 0) return nullptr;
  if (arena().allocations_left == 0) throw std::bad_alloc();
  if (arena().allocations_left > 0) --arena().allocations_left;
  const auto bytes = static_cast<size_t>(n);
  if (bytes >= arena_bytes / 2) throw std::bad_alloc();
  auto* const data = static_cast<char*>(device_pool().allocate(n + static_cast<int64_t>(canary_bytes)));
  arena().live[data] = {bytes, is_capturing()};
  const test::DeviceAccess access;
  std::memset(data, fresh, bytes);
  std::memset(data + bytes, canary, canary_bytes);
  return data;
}

void release(void* data) noexcept {
  if (data == nullptr) return;
  const auto at = arena().live.find(static_cast<char*>(data));
  if (at == arena().live.end()) std::terminate();
  const Block block = at->second;
  if (!block.shared) {
    const test::DeviceAccess access;
    for (size_t i = 0; i < canary_bytes; ++i) {
      if (static_cast<unsigned char>(at->first[block.bytes + i]) != canary) std::terminate();  // written past the end
    }
  }
  arena().live.erase(at);
  device_pool().release(data);
}

int64_t kept_bytes() { return device_pool().kept(); }

void copy_to_device(void* to, const void* from, int64_t bytes) {
  if (bytes <= 0) return;
  const auto* const first = static_cast<const char*>(from);
  if (is_capturing()) return upload_captured(to, from, bytes);
  Arena& a = arena();
  for (int64_t done = 0; done < bytes;) {
    const StagingPlaces::Place place = a.places.next(bytes - done);
    if (place.left >= 0) a.in_flight[place.left] = true;
    if (place.entered >= 0) a.waits += std::exchange(a.in_flight[place.entered], false) ? 1 : 0;
    char* const stop = a.staging.data() + place.at;
    std::memcpy(stop, first + done, static_cast<size_t>(place.bytes));
    test::queue([=, there = static_cast<char*>(to) + done] { std::memcpy(there, stop, place.bytes); });
    done += place.bytes;
  }
}

void copy_to_host(void* to, const void* from, int64_t bytes) {
  synchronize();
  const test::DeviceAccess access;
  if (bytes > 0) std::memcpy(to, from, static_cast<size_t>(bytes));
}

void copy_on_device(void* to, const void* from, int64_t bytes) {
  if (bytes > 0) test::queue([=] { std::memcpy(to, from, static_cast<size_t>(bytes)); });
}

void fill_zero(void* data, int64_t bytes) {
  if (bytes > 0) test::queue([=] { std::memset(data, 0, static_cast<size_t>(bytes)); });
}

void synchronize() {
  refuse_while_capturing();
  ++arena().waits;
  arena().in_flight.fill(false);
}
int64_t waits() { return arena().waits; }

namespace {
template <class Real>
void product(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const Real* a, const Real* b,
             Real* c) {
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double total = 0;
      for (int64_t l = 0; l < k; ++l) {
        total += static_cast<double>(transpose_a ? a[l * m + i] : a[i * k + l]) *
                 (transpose_b ? b[j * k + l] : b[l * n + j]);
      }
      c[i * n + j] = static_cast<Real>(total);
    }
  }
}
}  // namespace

void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const float* a, const float* b,
            float* c) {
  test::queue([=] { product(transpose_a, transpose_b, m, n, k, a, b, c); });
}
void matmul(bool transpose_a, bool transpose_b, int64_t m, int64_t n, int64_t k, const double* a, const double* b,
            double* c) {
  test::queue([=] { product(transpose_a, transpose_b, m, n, k, a, b, c); });
}

}  // namespace cuda
}  // namespace mr
