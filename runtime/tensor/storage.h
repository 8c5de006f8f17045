// Bytes on a device, shared by the tensors that view them. The total number of bytes is counted, because Lua's garbage
// collector does not know about them.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/tensor/device.h"

namespace mr {

class Storage;

/// Delays updates of a storage's numbers until they are read. All access to the bytes goes through it, so that every
/// reader gets current values.
class Deferral {
 public:
  virtual ~Deferral() = default;
  /// Applies all deferred updates.
  virtual void settle() = 0;
  /// Applies at least the deferred updates of the given rows, counted from 1, each of `bytes` bytes.
  virtual void settle_rows(const int64_t* rows, int64_t count, int64_t row_bytes) = 0;
  /// Called before other code writes: applies all updates and stops deferring.
  virtual void let_go() = 0;

 protected:
  /// The bytes, possibly stale.
  static void* bytes_of(const Storage& storage);
};

class Storage {
 public:
  /// Allocates bytes, uninitialized, aligned to 64. Throws OutOfMemory before the machine runs out of memory.
  Storage(int64_t bytes, Device device);
  /// Uses bytes of the CPU that `owner` keeps alive, such as an array of another part of the program.
  Storage(void* data, int64_t bytes, std::shared_ptr<void> owner);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  /// Returns the bytes with all updates applied. They are current until the next optimizer step.
  void* data() const {
    if (deferral_ != nullptr) [[unlikely]]
      deferral_->settle();
    return data_;
  }
  /// Returns the bytes, of which only the given rows, counted from 1, may be read: only their updates are applied.
  void* data_of_rows(const int64_t* rows, int64_t count, int64_t row_bytes) const {
    if (deferral_ != nullptr) [[unlikely]]
      deferral_->settle_rows(rows, count, row_bytes);
    return data_;
  }
  /// Returns the bytes for writing; no update is deferred any more.
  void* data_to_write() const {
    put_off(nullptr);
    return data_;
  }
  /// Makes `deferral` responsible for pending updates. The updates of the previous owner are applied first.
  void put_off(std::shared_ptr<Deferral> deferral) const;
  const std::shared_ptr<Deferral>& deferral() const { return deferral_; }
  int64_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  /// Returns the number of bytes of all live storages of a device.
  static int64_t held(Device device);
  /// Returns the number of freed bytes that are kept for new storages of a device.
  static int64_t kept(Device device);
  /// Returns how many CPU storages so far took memory from the system, because no kept block had their size.
  static int64_t fresh();
  /// Returns the number of bytes that this thread has allocated so far, on all devices.
  static int64_t taken();

 private:
  friend class Deferral;

  mutable std::shared_ptr<Deferral> deferral_;
  std::shared_ptr<void> owner_;  // null if the bytes belong to this storage
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  Device device_ = Device::cpu;
};

inline void* Deferral::bytes_of(const Storage& storage) { return storage.data_; }

/// Copies between host memory and devices. A copy to the host waits for earlier work.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, int64_t bytes);
void clear_bytes(void* data, Device device, int64_t bytes);

/// Thrown when a request exceeds the available memory.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(int64_t bytes, Device device);
  const char* what() const noexcept override { return text_; }

 private:
  char text_[128];
};

}  // namespace mr
