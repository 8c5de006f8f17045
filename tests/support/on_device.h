// Arrays in GPU memory with values from the host, and arrays in host memory with the same functions, for tests of
// kernels that do not use tensors.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/core/view.h"
#include "kernels/device/gpu.h"

namespace mr::test {

template <class T>
class OnDevice {
 public:
  explicit OnDevice(int64_t n) : size_(n), data_(static_cast<T*>(cuda::gpu().allocate(bytes()))) {}
  explicit OnDevice(const std::vector<T>& from) : OnDevice(static_cast<int64_t>(from.size())) {
    cuda::gpu().copy_to_device(data_, from.data(), bytes());
  }
  ~OnDevice() { cuda::gpu().release(data_); }
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

  int64_t size() const { return size_; }
  T* data() const { return data_; }
  Span<T> span() const { return {data_, size_}; }
  std::vector<T> values() const {
    std::vector<T> out(static_cast<size_t>(size_));
    cuda::gpu().copy_to_host(out.data(), data_, bytes());
    return out;
  }

 private:
  int64_t bytes() const { return size_ * static_cast<int64_t>(sizeof(T)); }

  int64_t size_;
  T* data_;
};

/// An array in host memory with the functions of OnDevice, so that a test can run on both.
template <class T>
class OnHost {
 public:
  explicit OnHost(int64_t n) : values_(static_cast<size_t>(n)) {}
  explicit OnHost(const std::vector<T>& from) : values_(from) {}
  T* data() const { return values_.data(); }
  Span<T> span() const { return {values_.data(), static_cast<int64_t>(values_.size())}; }
  std::vector<T> values() const { return values_; }

 private:
  mutable std::vector<T> values_;
};

}  // namespace mr::test
