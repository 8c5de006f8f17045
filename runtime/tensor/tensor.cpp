#include "runtime/tensor/tensor.h"

#include "kernels/tensor/rows.h"

namespace mr {

Tensor Tensor::empty(const Shape& shape, Dtype dtype, Device device) {
  const int64_t entries = shape.entries();
  auto storage = std::make_shared<Storage>(entries * size_of(dtype), device);
  return Tensor(Body{std::move(storage), 0, nullptr, 0, shape, entries, dtype, nullptr});
}

Tensor Tensor::zeros(const Shape& shape, Dtype dtype, Device device) {
  Tensor out = empty(shape, dtype, device);
  clear_bytes(out.raw(), device, out.bytes());
  return out;
}

Tensor Tensor::full(const Shape& shape, double value, Dtype dtype, Device device) {
  Tensor out = empty(shape, dtype, device);
  with_any(dtype, [&]<class T>() {
    kernels<MoveKernels<T>>(device).fill(out.entries(), {.out = out.span<T>(), .value = static_cast<T>(value)});
  });
  return out;
}

Tensor Tensor::from_bytes(const void* values, const Shape& shape, Dtype dtype, Device device) {
  // Indices (int64) are made on the host and copied from there, so that the host has a copy of their bytes.
  Tensor out = empty(shape, dtype, dtype == Dtype::int64 ? Device::cpu : device);
  copy_bytes(out.raw(), out.device(), values, Device::cpu, out.bytes());
  return out.to(device);
}

Tensor Tensor::on(std::shared_ptr<Storage> storage, const Shape& shape, Dtype dtype) {
  if (storage->bytes() != shape.entries() * size_of(dtype))
    throw std::invalid_argument("a storage has " + std::to_string(storage->bytes()) + " bytes, expected " +
                                std::to_string(shape.entries() * size_of(dtype)) + " for a tensor of shape " +
                                shape.text());
  return Tensor(Body{std::move(storage), 0, nullptr, 0, shape, shape.entries(), dtype, nullptr});
}

void* Tensor::raw_of_rows(const Tensor& rows) const {
  if (body_->storage->deferral() == nullptr || !whole() || dims() == 0) return raw();
  const auto* const numbers = static_cast<const int64_t*>(rows.host_bytes());
  if (numbers == nullptr) return raw();
  return body_->storage->data_of_rows(numbers, rows.entries(), shape().stride(0) * size_of(dtype()));
}

const void* Tensor::host_bytes() const {
  if (device() == Device::cpu) return raw();
  if (body_->here == nullptr) return nullptr;
  return static_cast<const char*>(body_->here->data()) + body_->offset + body_->here_shift;
}

void Tensor::copy_to_host(void* target) const {
  const void* const here = host_bytes();
  copy_bytes(target, Device::cpu, here != nullptr ? here : raw(), here != nullptr ? Device::cpu : device(), bytes());
}

double Tensor::item() const {
  if (entries() != 1) throw std::invalid_argument("expected a tensor with one entry, got shape " + shape().text());
  return with_any(dtype(), [&]<class T>() { return static_cast<double>(to_vector<T>()[0]); });
}

Tensor Tensor::to(Device device) const {
  if (device == this->device()) return data();
  Tensor out = empty(shape(), dtype(), device);
  if (device == Device::cpu) {
    copy_to_host(out.raw());
    return out;
  }
  copy_bytes(out.raw(), device, raw(), Device::cpu, bytes());
  if (dtype() != Dtype::int64) return out;
  Body body = *out.body_;
  body.here = body_->storage;
  body.here_shift = body_->offset;
  return Tensor(std::move(body));
}

Tensor Tensor::to(Dtype dtype) const {
  if (dtype == this->dtype()) return data();
  Tensor out = empty(shape(), dtype, device());
  with_any(dtype, [&]<class T>() {
    Convert<T> work{.out = out.span<T>()};
    if (this->dtype() == Dtype::float32) work.from_float = span<const float>().data;
    if (this->dtype() == Dtype::float64) work.from_double = span<const double>().data;
    if (this->dtype() == Dtype::int64) work.from_int = span<const int64_t>().data;
    kernels<MoveKernels<T>>(device()).convert(entries(), work);
  });
  return out;
}

void Tensor::wrong_type(Dtype expected) const {
  throw std::invalid_argument("a tensor of shape " + shape().text() + " is " + std::string(name_of(dtype())) +
                              ", expected " + std::string(name_of(expected)));
}

Tensor Tensor::clone() const {
  Tensor out = empty(shape(), dtype(), device());
  copy_bytes(out.raw(), device(), raw(), device(), bytes());
  return out;
}

void Tensor::assign(const Tensor& values) const {
  const void* const from = values.raw();
  copy_bytes(raw_to_write(), device(), from, values.device(), bytes());
}

Tensor Tensor::viewed(const Shape& shape) const {
  Body body = *body_;
  body.shape = shape;
  body.entries = shape.entries();
  body.node = nullptr;
  return Tensor(std::move(body));
}

Tensor Tensor::slice(int64_t first, int64_t count) const {
  Body body = *body_;
  const int64_t row = body.shape.stride(0);
  body.shape.set(0, count);
  body.entries = count * row;
  body.offset += first * row * size_of(dtype());
  body.node = nullptr;
  return Tensor(std::move(body));
}

Tensor Tensor::data() const { return node() == nullptr ? *this : with_node(nullptr); }

Tensor Tensor::with_node(std::shared_ptr<Node> node) const {
  Body body = *body_;
  body.node = std::move(node);
  return Tensor(std::move(body));
}

}  // namespace mr
