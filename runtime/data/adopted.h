// Large columns of numbers without copies: makes a tensor from a vector's memory, and reads the numbers of a tensor in
// place.
#pragma once

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "runtime/tensor/tensor.h"

namespace mr {

/// Returns a one-dimensional tensor on the CPU that takes over the memory of `values`.
template <class T>
Tensor adopted(std::vector<T>&& values) {
  if (values.empty()) return Tensor::from(values);
  const auto owner = std::make_shared<std::vector<T>>(std::move(values));
  const auto count = static_cast<int64_t>(owner->size());
  return Tensor::on(std::make_shared<Storage>(owner->data(), count * static_cast<int64_t>(sizeof(T)), owner), {count},
                    dtype_of<T>);
}

/// Reads the numbers of a tensor on the CPU. They are copied only if the tensor is on the GPU.
template <class T>
class Column {
 public:
  explicit Column(const Tensor& x) : here_(x.to(Device::cpu)), all_(here_.span<const T>()) {}
  operator std::span<const T>() const { return {all_.data, size()}; }
  const T& operator[](size_t i) const { return all_.data[i]; }
  size_t size() const { return static_cast<size_t>(all_.size); }
  const T* begin() const { return all_.data; }
  const T* end() const { return all_.data + all_.size; }

 private:
  Tensor here_;
  Span<const T> all_;
};

}  // namespace mr
