// Bytes on a device, shared by the tensors that view them. The total number of bytes is counted, because Lua's garbage
// collector does not know about them.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/tensor/device.h"

namespace mr {

class Storage;

/// Delays updates of a storage's numbers until they are read. Storage calls it before giving access to the bytes, so
/// that every reader gets current values.
class Deferral {
 public:
  virtual ~Deferral() = default;
  /// Applies all deferred updates.
  virtual void settle() = 0;
  /// Applies the deferred updates of the given rows, counted from 1, each of `row_bytes` bytes. May apply others, too.
  virtual void settle_rows(const int64_t* rows, int64_t count, int64_t row_bytes) = 0;
  /// Called before other code writes to the bytes: applies all updates and stops deferring.
  virtual void let_go() = 0;

 protected:
  /// Returns the bytes of a storage without applying deferred updates, so they may be stale.
  static void* bytes_of(const Storage& storage);
};

class Storage {
 public:
  /// Allocates bytes, uninitialized, aligned to 64. Throws OutOfMemory before the machine runs out of memory.
  Storage(int64_t bytes, Device device);
  /// Uses `bytes` bytes of host memory at `data`, which `owner` keeps alive, for example an array of another part of
  /// the program.
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
  /// Returns the bytes after applying the deferred updates of the given rows, counted from 1. The bytes of other rows
  /// may be stale and must not be read.
  void* data_of_rows(const int64_t* rows, int64_t count, int64_t row_bytes) const {
    if (deferral_ != nullptr) [[unlikely]]
      deferral_->settle_rows(rows, count, row_bytes);
    return data_;
  }
  /// Returns the bytes for writing. Applies all deferred updates first and ends deferring, so that no later update
  /// overwrites what is written.
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
  std::shared_ptr<void> owner_;  // keeps bytes alive that another object owns; null if the bytes belong to this storage
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

/// Counts memory outside of tensors that an object of Lua owns, such as that of another library, so that the garbage
/// collector runs as often as for a tensor of this size.
class ForeignBytes {
 public:
  explicit ForeignBytes(int64_t bytes);
  ~ForeignBytes();
  ForeignBytes(const ForeignBytes&) = delete;
  ForeignBytes& operator=(const ForeignBytes&) = delete;

 private:
  int64_t bytes_;
};

}  // namespace mr
