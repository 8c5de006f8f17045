#include "runtime/tensor/storage.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <limits>
#include <string>

#include "kernels/cuda/device.h"

namespace mr {
namespace {

std::atomic<int64_t> held_bytes[2];
constexpr int64_t guarded_size = int64_t{64} << 20;

/// Memory that the machine can still give, from the kernel's own estimate; without one, all is allowed.
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

void* allocate_cpu(int64_t bytes) {
  // Linux promises more than it has: a large request is compared with what is there, so that it fails here and not
  // later by a signal.
  if (bytes >= guarded_size && bytes > available_bytes()) throw OutOfMemory(bytes, Device::cpu);
  void* const data = std::aligned_alloc(64, (bytes + 63) / 64 * 64);
  if (data == nullptr) throw OutOfMemory(bytes, Device::cpu);
  return data;
}

void* allocate_cuda(int64_t bytes) {
  try {
    return cuda::allocate(bytes);
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
}

Storage::~Storage() {
  if (data_ == nullptr) return;
  held_bytes[static_cast<int>(device_)] -= bytes_;
  if (device_ == Device::cpu) {
    std::free(data_);
  } else {
    cuda::release(data_);
  }
}

int64_t Storage::held(Device device) { return held_bytes[static_cast<int>(device)]; }

}  // namespace mr
