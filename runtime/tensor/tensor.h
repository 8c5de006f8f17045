// A tensor: a small handle on shared, contiguous, row-major bytes of one device. Copies of the handle share the bytes.
// A handle may have an edge into the graph of recorded operations (runtime/autograd/node.h); `data()` returns the same
// bytes without it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernels/core/view.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/shape.h"
#include "runtime/tensor/storage.h"

namespace mr {

struct Node;

class Tensor {
 public:
  Tensor() = default;

  static Tensor empty(const Shape& shape, Dtype dtype, Device device = Device::cpu);
  static Tensor zeros(const Shape& shape, Dtype dtype, Device device = Device::cpu);
  static Tensor full(const Shape& shape, double value, Dtype dtype, Device device = Device::cpu);
  /// Returns a one-dimensional tensor, copied from host memory.
  template <class T>
  static Tensor from(const std::vector<T>& values, Device device = Device::cpu) {
    return from_bytes(values.data(), {static_cast<int64_t>(values.size())}, dtype_of<T>, device);
  }
  static Tensor from_bytes(const void* values, const Shape& shape, Dtype dtype, Device device);
  /// Returns a tensor on all bytes of a storage, which must be as many as the shape and the type need.
  static Tensor on(std::shared_ptr<Storage> storage, const Shape& shape, Dtype dtype);

  bool defined() const { return body_ != nullptr; }
  const Shape& shape() const { return body_->shape; }
  int dims() const { return body_->shape.dims(); }
  int64_t size(int d) const { return body_->shape[d]; }
  int64_t entries() const { return body_->entries; }
  Dtype dtype() const { return body_->dtype; }
  Device device() const { return body_->storage->device(); }

  /// Returns the entries as a span of T, on the tensor's device. Throws if T is not the tensor's type; `to_vector` does
  /// so, too.
  template <Entry T>
  Span<T> span() const {
    expect(dtype_of<T>);
    return {static_cast<T*>(raw()), entries()};
  }
  /// Returns the entries after applying the deferred updates of the given rows (int64, counted from 1). The entries of
  /// other rows may be stale and must not be read.
  template <Entry T>
  Span<T> span_of_rows(const Tensor& rows) const {
    expect(dtype_of<T>);
    return {static_cast<T*>(raw_of_rows(rows)), entries()};
  }
  /// Returns the entries for writing, for optimizers. Applies all deferred updates first and ends deferring.
  template <Entry T>
  Span<T> span_to_write() const {
    expect(dtype_of<T>);
    return {static_cast<T*>(raw_to_write()), entries()};
  }
  /// Returns true if this tensor views all bytes of its storage.
  bool whole() const { return bytes() == body_->storage->bytes(); }
  const Storage& storage() const { return *body_->storage; }
  /// Returns the bytes, if the host can read them without waiting; else null.
  const void* host_bytes() const;
  void* raw() const { return static_cast<char*>(body_->storage->data()) + body_->offset; }
  int64_t bytes() const { return entries() * size_of(dtype()); }

  template <Entry T>
  std::vector<T> to_vector() const {
    expect(dtype_of<T>);
    std::vector<T> values(static_cast<size_t>(entries()));
    copy_to_host(values.data());
    return values;
  }
  void copy_to_host(void* target) const;
  /// Returns the single entry as a number. Throws if there is not exactly one.
  double item() const;

  Tensor to(Device device) const;
  Tensor to(Dtype dtype) const;
  Tensor clone() const;
  /// Copies `values` into this tensor's bytes, which all tensors that share the bytes then see. Shape, type and device
  /// must be equal.
  void assign(const Tensor& values) const;
  /// Return views that share the bytes and have no graph edge. `viewed` returns one with another shape and as many
  /// entries, `slice` one of a part along the first dimension.
  Tensor viewed(const Shape& shape) const;
  Tensor slice(int64_t first, int64_t count) const;
  /// Returns this tensor without its graph edge; it shares the bytes.
  Tensor data() const;

  const std::shared_ptr<Node>& node() const { return body_->node; }
  Tensor with_node(std::shared_ptr<Node> node) const;
  bool same_as(const Tensor& other) const { return body_ == other.body_; }
  bool same_bytes(const Tensor& other) const {
    return defined() && other.defined() && body_->storage == other.body_->storage;
  }

  /// Returns a short text for people: values, or the ends of a large tensor, with shape and type.
  std::string text() const;

 private:
  struct Body {
    std::shared_ptr<Storage> storage;
    int64_t offset = 0;
    /// Host memory from which indices (int64) were copied to the GPU, or null. An entry of this tensor begins
    /// `here_shift` bytes further in it than in `storage`. Indices never change, so the host reads them here without
    /// waiting for the GPU.
    std::shared_ptr<Storage> here;
    int64_t here_shift = 0;
    Shape shape;
    int64_t entries = 0;
    Dtype dtype = Dtype::float32;
    std::shared_ptr<Node> node;
  };

  void expect(Dtype type) const {
    if (dtype() != type) [[unlikely]]
      wrong_type(type);
  }
  [[noreturn]] void wrong_type(Dtype expected) const;
  void* raw_of_rows(const Tensor& rows) const;
  void* raw_to_write() const { return static_cast<char*>(body_->storage->data_to_write()) + body_->offset; }

  explicit Tensor(Body body) : body_(std::make_shared<Body>(std::move(body))) {}
  std::shared_ptr<const Body> body_;
};

}  // namespace mr
