// Bytes on a device, shared by the tensors that view them, and counted, because the collector of Lua does not know of
// them.
#pragma once

#include <cstdint>
#include <memory>

#include "runtime/tensor/device.h"

namespace mr {

class Storage;

/// Delays updates of a storage's numbers until somebody reads them. There is no way to the bytes
/// around it: every reader, also one that does not know of it, brings them up to date first.
class Deferral {
 public:
  virtual ~Deferral() = default;
  /// Brings all bytes up to date.
  virtual void settle() = 0;
  /// Some rows of so many bytes each, counted from 1; may do more.
  virtual void settle_rows(const int64_t* rows, int64_t count, int64_t row_bytes) = 0;
  /// Somebody else is about to write: brings all up to date, and puts nothing off any more.
  virtual void let_go() = 0;

 protected:
  /// The bytes as they are.
  static void* bytes_of(const Storage& storage);
};

class Storage {
 public:
  /// Uninitialised bytes, aligned to 64. Throws OutOfMemory before the machine runs out.
  Storage(int64_t bytes, Device device);
  ~Storage();
  Storage(const Storage&) = delete;
  Storage& operator=(const Storage&) = delete;

  /// The bytes, up to date; they stay so until the one who defers goes on.
  void* data() const {
    if (deferral_ != nullptr) [[unlikely]]
      deferral_->settle();
    return data_;
  }
  /// The bytes, of which only these rows, counted from 1, will be looked at.
  void* data_of_rows(const int64_t* rows, int64_t count, int64_t row_bytes) const {
    if (deferral_ != nullptr) [[unlikely]]
      deferral_->settle_rows(rows, count, row_bytes);
    return data_;
  }
  /// The bytes, to be written to.
  void* data_to_write() const {
    put_off(nullptr);
    return data_;
  }
  /// From here on this one defers; who did before lets go.
  void put_off(std::shared_ptr<Deferral> deferral) const;
  const std::shared_ptr<Deferral>& deferral() const { return deferral_; }
  int64_t bytes() const { return bytes_; }
  Device device() const { return device_; }

  /// Bytes held by all live storages of a device.
  static int64_t held(Device device);
  /// Freed bytes that are kept for the next storages of a device.
  static int64_t kept(Device device);
  /// How many storages of the CPU so far found nothing kept of their size and took memory from the system.
  static int64_t fresh();
  /// Bytes that storages of this thread took so far, of all devices.
  static int64_t taken();

 private:
  friend class Deferral;

  mutable std::shared_ptr<Deferral> deferral_;
  void* data_ = nullptr;
  int64_t bytes_ = 0;
  Device device_ = Device::cpu;
};

inline void* Deferral::bytes_of(const Storage& storage) { return storage.data_; }

/// Copies between host memory and devices; a copy to the host waits for what comes before it.
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, int64_t bytes);
void clear_bytes(void* data, Device device, int64_t bytes);

/// More memory was requested than there is.
class OutOfMemory : public std::bad_alloc {
 public:
  explicit OutOfMemory(int64_t bytes, Device device);
  const char* what() const noexcept override { return text_; }

 private:
  char text_[128];
};

}  // namespace mr
