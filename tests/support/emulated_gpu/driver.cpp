#include "tests/support/emulated_gpu/driver.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <sys/mman.h>
#include <utility>

namespace mr {
namespace test {
namespace {

constexpr size_t arena_bytes = size_t{16} << 30;
constexpr size_t canary_bytes = 64;
// byte after the end of a tensor, to detect overruns; initial byte of new memory, with which floating-point numbers are
// NaN
constexpr unsigned char canary = 0xA5, fresh = 0xFF;

// A word of a kernel's arguments below this value counts as a number, not as a pointer. AddressSanitizer maps its own
// data at low addresses, which would look like pointers into the program.
#ifdef __SANITIZE_ADDRESS__
constexpr uint64_t least_address = 0x10007fff8000;
#else
constexpr uint64_t least_address = uint64_t{1} << 32;
#endif

bool mapped(uint64_t address) { return msync(reinterpret_cast<void*>(address & ~uint64_t{4095}), 4096, MS_ASYNC) == 0; }

size_t room_for(int64_t bytes) { return std::bit_ceil(std::max<size_t>(static_cast<size_t>(bytes), 4096)); }

template <class Real>
void multiply(const cuda::Product<Real>& p) {
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double total = 0;
      for (int64_t l = 0; l < p.k; ++l) {
        total += static_cast<double>(p.transpose_a ? p.a[l * p.m + i] : p.a[i * p.k + l]) *
                 (p.transpose_b ? p.b[j * p.k + l] : p.b[l * p.n + j]);
      }
      p.c[i * p.n + j] = static_cast<Real>(total);
    }
  }
}

/// A recording of GPU work: a list of functions, which each run calls again.
class Functions : public cuda::Capture {
 public:
  Functions(EmulatedDriver& driver, std::vector<EmulatedDriver::Work> work) : driver_(driver), work_(std::move(work)) {
    ++owned;
  }
  ~Functions() override {
    --owned;
    driver_.queue_works();
  }
  Functions(const Functions&) = delete;
  Functions& operator=(const Functions&) = delete;

  void run() override {
    for (const auto& work : work_) driver_.run(work);
  }

 private:
  EmulatedDriver& driver_;
  std::vector<EmulatedDriver::Work> work_;
};

}  // namespace

/// Makes device memory accessible while an object of this class lives. Protecting the memory again costs a system call,
/// so it is done after each of the first accesses and later only after some of them.
class EmulatedDriver::Access {
 public:
  explicit Access(EmulatedDriver& driver) : driver_(driver) {
    if (driver_.open_++ == 0 && driver_.closed_) {
      driver_.protect(PROT_READ | PROT_WRITE);
      driver_.closed_ = false;
    }
  }
  ~Access() {
    if (--driver_.open_ == 0 && driver_.closes_now()) {
      driver_.protect(PROT_NONE);
      driver_.closed_ = true;
    }
  }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

 private:
  EmulatedDriver& driver_;
};

/// The emulated GPU has only 2 multiprocessors. Kernels that choose an algorithm by the size of the batch then use the
/// one for large batches in small tests, too.
EmulatedDriver::EmulatedDriver() : Driver({"emulated GPU", 1, 2}) {
  void* const at = mmap(nullptr, arena_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<char*>(at);
  ++owned;
}

EmulatedDriver::~EmulatedDriver() {
  munmap(base_, arena_bytes);
  --owned;
}

void EmulatedDriver::protect(int protection) const {
  if (used_ > 0 && mprotect(base_, used_, protection) != 0) throw std::runtime_error("the emulated GPU: mprotect");
}

void* EmulatedDriver::take(int64_t bytes) {
  const size_t room = room_for(bytes);
  std::vector<char*>& reusable = free_[room];
  char* data = nullptr;
  if (!reusable.empty()) {
    data = reusable.back();
    reusable.pop_back();
  } else {
    if (used_ + room > arena_bytes) return nullptr;
    data = base_ + used_;
    used_ += room;
    closed_ = true;  // the next access must unprotect this new part of the memory
    rooms_[data] = room;
  }
  ++owned;
  return data;
}

void EmulatedDriver::give_back(void* data) noexcept {
  auto* const at = static_cast<char*>(data);
  --owned;
  free_[rooms_.at(at)].push_back(at);
}

int64_t EmulatedDriver::bytes_for(int64_t bytes) {
  if (allocations_left_ == 0) throw std::bad_alloc();
  if (allocations_left_ > 0) --allocations_left_;
  if (static_cast<size_t>(bytes) >= arena_bytes / 2) throw std::bad_alloc();
  return bytes + static_cast<int64_t>(canary_bytes);
}

void EmulatedDriver::handed_out(void* data, int64_t bytes) {
  auto* const first = static_cast<char*>(data);
  const auto count = static_cast<size_t>(bytes);
  live_[first] = {count, recording_};
  const Access access(*this);
  std::memset(first, fresh, count);
  std::memset(first + count, canary, canary_bytes);
}

void EmulatedDriver::taken_back(void* data) noexcept {
  const auto at = live_.find(static_cast<char*>(data));
  if (at == live_.end()) std::terminate();
  const Tensor tensor = at->second;
  if (!tensor.shared) {
    const Access access(*this);
    for (size_t i = 0; i < canary_bytes; ++i) {
      // a kernel wrote past the end of the tensor
      if (static_cast<unsigned char>(at->first[tensor.bytes + i]) != canary) std::terminate();
    }
  }
  live_.erase(at);
}

int64_t EmulatedDriver::upload(void* to, const void* from, int64_t bytes) {
  int64_t waits = 0;
  for (int64_t done = 0; done < bytes;) {
    const cuda::StagingPlaces::Place place = places_.next(bytes - done);
    if (place.left >= 0) in_flight_[place.left] = true;
    if (place.entered >= 0) waits += std::exchange(in_flight_[place.entered], false) ? 1 : 0;
    char* const stop = staging_.data() + place.at;
    std::memcpy(stop, static_cast<const char*>(from) + done, static_cast<size_t>(place.bytes));
    queue([=, there = static_cast<char*>(to) + done] { std::memcpy(there, stop, place.bytes); });
    done += place.bytes;
  }
  return waits;
}

void EmulatedDriver::upload_recorded(void* to, const void* from, int64_t bytes) {
  const auto* const first = static_cast<const char*>(from);
  queue([to, sent = std::vector<char>(first, first + bytes)] { std::memcpy(to, sent.data(), sent.size()); });
}

void EmulatedDriver::download(void* to, const void* from, int64_t bytes) {
  const Access access(*this);
  std::memcpy(to, from, static_cast<size_t>(bytes));
}

void EmulatedDriver::copy(void* to, const void* from, int64_t bytes) {
  queue([=] { std::memcpy(to, from, static_cast<size_t>(bytes)); });
}

void EmulatedDriver::fill_zero(void* data, int64_t bytes) {
  queue([=] { std::memset(data, 0, static_cast<size_t>(bytes)); });
}

void EmulatedDriver::matmul(const cuda::Product<float>& product) {
  queue([=] { multiply(product); });
}
void EmulatedDriver::matmul(const cuda::Product<double>& product) {
  queue([=] { multiply(product); });
}

void EmulatedDriver::begin_recording() {
  recording_ = true;
  spoilt_ = false;
}

std::unique_ptr<cuda::Capture> EmulatedDriver::end_recording() {
  recording_ = false;
  auto recording = std::make_unique<Functions>(*this, std::exchange(recorded_, {}));
  if (spoilt_) return nullptr;
  return recording;
}

bool EmulatedDriver::queue_works() {
  spoilt_ = recording_;
  return !recording_ && !broken_;
}

void EmulatedDriver::queue(Work work) {
  if (recording_) {
    recorded_.push_back(std::move(work));
  } else {
    run(work);
  }
}

void EmulatedDriver::run(const Work& work) {
  const Access access(*this);
  work();
}

/// Returns true if a pointer points into a tensor that is in use, or just past its end.
bool EmulatedDriver::holds(const char* pointer) const {
  auto at = live_.upper_bound(const_cast<char*>(pointer));
  if (at == live_.begin()) return false;
  --at;
  return pointer <= at->first + at->second.bytes;
}

void EmulatedDriver::check_pointers(const void* work, size_t bytes, const char* kernel) const {
  for (size_t at = 0; at + sizeof(uint64_t) <= bytes; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, static_cast<const char*>(work) + at, sizeof word);
    if (word < least_address || word >= (uint64_t{1} << 47)) continue;
    const auto* const pointer = reinterpret_cast<const char*>(word);
    if (pointer >= base_ && pointer < base_ + arena_bytes) {
      if (!holds(pointer)) throw std::logic_error(std::string("released device memory reaches ") + kernel);
    } else if (mapped(word)) {
      throw std::logic_error(std::string("a pointer to host memory reaches ") + kernel);
    }
  }
}

}  // namespace test

namespace cuda {

bool built() { return true; }
std::unique_ptr<Driver> open_driver(Gpu& /*gpu*/, std::string& /*reason*/) {
  return std::make_unique<test::EmulatedDriver>();
}

}  // namespace cuda
}  // namespace mr
