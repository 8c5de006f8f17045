// Device memory for one operation. It may be released while the operation is still queued, because later uses of the
// memory are queued behind it in the same stream.
#pragma once

#include <cstdint>

#include "kernels/core/view.h"
#include "kernels/device/gpu.h"

namespace mr::cuda {

template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t count)
      : data_(static_cast<T*>(gpu().allocate(count * static_cast<int64_t>(sizeof(T))))), count_(count) {}
  ~Scratch() { gpu().release(data_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  T* data() const { return data_; }
  Span<T> span() const { return {data_, count_}; }
  Span<const T> view() const { return {data_, count_}; }

 private:
  T* data_;
  int64_t count_;
};

}  // namespace mr::cuda
