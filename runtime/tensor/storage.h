// Bytes on a device, owned together by the tensors that show them, and counted, because the collector of Lua cannot see
// them.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/tensor/device.h"

namespace mr {

class Storage {
 public:
  /// Uninitialised bytes, aligned to 64. Throws OutOfMemory before the machine would run out.
  Storage(int64_t bytes, Device device);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  void* data() const { return data_; }
  int64_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  /// Bytes held by all live storages of a device.
  static int64_t held(Device device);
  /// Bytes that nothing holds, kept for the next storages of a device.
  static int64_t kept(Device device);
  /// How many storages of the CPU so far found nothing kept of their size and took memory from the system.
  static int64_t fresh();

 private:
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  Device device_ = Device::cpu;
};

/// Asked for more memory than there is.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(int64_t bytes, Device device);
  const char* what() const noexcept override { return text_; }

 private:
  char text_[128];
};

}  // namespace mr
