// A device array for types that tensors do not have: structs and small integers for kernels. Copies share the bytes, as
// with tensors.
#pragma once

#include <cstdint>
#include <memory>
#include <type_traits>
#include <vector>

#include "kernels/core/view.h"
#include "runtime/tensor/storage.h"

namespace mr {

template <class T>
requires(std::is_trivially_copyable_v<T>) class DeviceArray {
 public:
  DeviceArray() = default;
  DeviceArray(int64_t size, Device device) : storage_(std::make_shared<Storage>(size * width, device)), size_(size) {}
  DeviceArray(const T* values, int64_t size, Device device) : DeviceArray(size, device) {
    copy_bytes(storage_->data(), device, values, Device::cpu, size * width);
  }
  DeviceArray(const std::vector<T>& values, Device device)
      : DeviceArray(values.data(), static_cast<int64_t>(values.size()), device) {}

  bool defined() const { return storage_ != nullptr; }
  int64_t size() const { return size_; }
  Device device() const { return storage_->device(); }
  /// Returns the values as a span of device memory.
  Span<T> span() const { return {defined() ? static_cast<T*>(storage_->data()) : nullptr, size_}; }
  std::vector<T> to_vector() const {
    std::vector<T> values(static_cast<size_t>(size_));
    if (size_ > 0) copy_bytes(values.data(), Device::cpu, storage_->data(), device(), size_ * width);
    return values;
  }
  void clear() const { clear_bytes(span().data, device(), size_ * width); }

 private:
  static constexpr auto width = static_cast<int64_t>(sizeof(T));

  std::shared_ptr<Storage> storage_;
  int64_t size_ = 0;
};

}  // namespace mr
