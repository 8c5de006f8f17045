#include "runtime/tensor/storage.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "kernels/core/block_size.h"
#include "kernels/core/large_pages.h"
#include "kernels/device/gpu.h"
#include "runtime/tensor/available.h"

namespace mr {

int64_t available_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  int64_t kib = 0;
  std::string unit;
  while (file >> name >> kib) {
    std::getline(file, unit);
    if (name == "MemAvailable:") return kib * 1024;
  }
  return std::numeric_limits<int64_t>::max();
}

namespace {

std::atomic<int64_t> held_bytes[2], fresh_storages;
thread_local int64_t taken_bytes = 0;
constexpr int64_t guarded_size = int64_t{64} << 20;

/// Keeps freed blocks of host memory for new tensors of about the same size. A training loop needs the same sizes in
/// every step, and the system would clear new pages each time. At most `most_kept` bytes are kept.
class Blocks {
 public:
#if defined(__SANITIZE_ADDRESS__)
  static constexpr int64_t most_kept = 0;  // no freed memory is kept, so that a sanitizer detects its use
#else
  static constexpr int64_t most_kept = int64_t{64} << 20;
#endif
  static constexpr int64_t largest = int64_t{32} << 20;

  /// Returns a freed block of exactly `size` bytes for reuse, or null if none is kept.
  void* take(int64_t size) noexcept {
    const std::lock_guard lock(mutex_);
    const auto found = free_.find(size);
    if (found == free_.end() || found->second.empty()) return nullptr;
    void* const block = found->second.back();
    found->second.pop_back();
    kept_ -= size;
    return block;
  }

  bool keep(void* block, int64_t size) noexcept {
    const std::lock_guard lock(mutex_);
    if (size > largest || kept_ + size > most_kept) return false;
    try {
      free_[size].push_back(block);
    } catch (const std::bad_alloc&) {
      return false;
    }
    kept_ += size;
    return true;
  }

  int64_t kept() {
    const std::lock_guard lock(mutex_);
    return kept_;
  }

  void release_all() noexcept {
    const std::lock_guard lock(mutex_);
    for (auto& [size, blocks] : free_) {
      for (void* const block : blocks) std::free(block);
    }
    free_.clear();
    kept_ = 0;
  }

 private:
  std::mutex mutex_;
  std::unordered_map<int64_t, std::vector<void*>> free_;
  int64_t kept_ = 0;
};

/// Returns the only Blocks object. It is never destroyed, because the destructors of static objects may free tensors
/// later.
Blocks& blocks() {
  static Blocks* const the_blocks = std::make_unique<Blocks>().release();
  return *the_blocks;
}

void* allocate_cpu(int64_t bytes) {
  // Linux overcommits memory. A large request is compared with the available memory, so that it fails here and not
  // later by a signal.
  if (bytes >= guarded_size && bytes > available_bytes()) throw OutOfMemory(bytes, Device::cpu);
  const int64_t size = block_size(bytes);
  if (void* const kept = blocks().take(size)) return kept;
  ++fresh_storages;
  void* data = cpu::take_pages(size);
  if (data == nullptr) {
    blocks().release_all();
    data = cpu::take_pages(size);
  }
  if (data == nullptr) throw OutOfMemory(bytes, Device::cpu);
  return data;
}

void release_cpu(void* data, int64_t bytes) noexcept {
  if (!blocks().keep(data, block_size(bytes))) std::free(data);
}

void* allocate_cuda(int64_t bytes) {
  try {
    return cuda::gpu().allocate(bytes);
  } catch (const std::bad_alloc&) {
    throw OutOfMemory(bytes, Device::cuda);
  }
}

}  // namespace

OutOfMemory::OutOfMemory(int64_t bytes, Device device) {
  std::snprintf(text_, sizeof text_, "out of memory: a tensor of %.1f MiB does not fit on %s",
                static_cast<double>(bytes) / 0x1p20, name_of(device).data());
}

Storage::Storage(int64_t bytes, Device device) : bytes_(bytes), device_(device) {
  if (bytes == 0) return;
  data_ = device == Device::cpu ? allocate_cpu(bytes) : allocate_cuda(bytes);
  held_bytes[static_cast<int>(device)] += bytes;
  taken_bytes += bytes;
}

Storage::Storage(void* data, int64_t bytes, std::shared_ptr<void> owner)
    : owner_(std::move(owner)), data_(data), bytes_(bytes) {
  held_bytes[static_cast<int>(device_)] += bytes;
}

Storage::~Storage() {
  deferral_.reset();  // no thread may write to the bytes after this
  if (data_ == nullptr && owner_ == nullptr) return;
  held_bytes[static_cast<int>(device_)] -= bytes_;
  if (owner_ != nullptr) return;
  if (device_ == Device::cpu) {
    release_cpu(data_, bytes_);
  } else {
    cuda::gpu().release(data_);
  }
}

void Storage::put_off(std::shared_ptr<Deferral> deferral) const {
  if (deferral_ != nullptr) deferral_->let_go();
  deferral_ = std::move(deferral);
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, int64_t bytes) {
  if (bytes == 0) return;
  if (to_device == Device::cpu && from_device == Device::cpu) {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  } else if (to_device == Device::cpu) {
    cuda::gpu().copy_to_host(to, from, bytes);
  } else if (from_device == Device::cpu) {
    cuda::gpu().copy_to_device(to, from, bytes);
  } else {
    cuda::gpu().copy_on_device(to, from, bytes);
  }
}

void clear_bytes(void* data, Device device, int64_t bytes) {
  if (bytes == 0) return;
  if (device == Device::cpu) {
    std::memset(data, 0, static_cast<size_t>(bytes));
  } else {
    cuda::gpu().fill_zero(data, bytes);
  }
}

int64_t Storage::held(Device device) { return held_bytes[static_cast<int>(device)]; }
int64_t Storage::kept(Device device) { return device == Device::cpu ? blocks().kept() : cuda::gpu().kept_bytes(); }
int64_t Storage::taken() { return taken_bytes; }
int64_t Storage::fresh() { return fresh_storages; }

ForeignBytes::ForeignBytes(int64_t bytes) : bytes_(bytes) { held_bytes[static_cast<int>(Device::cpu)] += bytes_; }

ForeignBytes::~ForeignBytes() { held_bytes[static_cast<int>(Device::cpu)] -= bytes_; }

}  // namespace mr
