#include "runtime/embed/arrays.h"

#include <mutex>
#include <vector>

namespace mr::embed {
namespace {

Shape shape_of(const moonrank_array& array) {
  if (array.dims < 0 || array.dims > MOONRANK_MOST_DIMS) {
    throw std::invalid_argument("an array has " + std::to_string(array.dims) + " dimensions, expected 0 to " +
                                std::to_string(MOONRANK_MOST_DIMS));
  }
  Shape shape;
  for (int d = 0; d < array.dims; ++d) shape.append(array.shape[d]);
  return shape;
}

Dtype dtype_of_array(const moonrank_array& array) {
  switch (array.dtype) {
    case MOONRANK_FLOAT32:
      return Dtype::float32;
    case MOONRANK_FLOAT64:
      return Dtype::float64;
    case MOONRANK_INT64:
      return Dtype::int64;
    default:
      throw std::invalid_argument("an array has the type " + std::to_string(array.dtype) +
                                  ", expected 0 (float32), 1 (float64) or 2 (int64)");
  }
}

/// `waiting` holds arrays of callers that no tensor uses any more. They are released when the outermost call of the C
/// interface on a thread ends. `running_calls` is the number of nested calls of the C interface on this thread.
std::mutex waiting_mutex;
std::vector<std::pair<void (*)(void*), void*>> waiting;
thread_local int running_calls = 0;

/// Releases the array of a caller by its function `release`. While a call of the C interface runs, the release waits
/// for the end of the call, because `release` may call the interface again.
void release_later(void (*release)(void*), void* owner) noexcept {
  if (running_calls > 0) {
    try {
      const std::lock_guard lock(waiting_mutex);
      waiting.emplace_back(release, owner);
      return;
    } catch (const std::bad_alloc&) {  // no memory to remember the array, so it is released now
    }
  }
  release(owner);
}

}  // namespace

Call::Call() { ++running_calls; }

Call::~Call() {
  if (--running_calls > 0) return;
  for (;;) {
    std::vector<std::pair<void (*)(void*), void*>> ready;
    {
      const std::lock_guard lock(waiting_mutex);
      ready.swap(waiting);
    }
    if (ready.empty()) return;
    for (const auto& [release, owner] : ready) release(owner);
  }
}

Tensor tensor_on(const moonrank_array& array) {
  // `owner` releases the array when it is destroyed. It is made before anything can fail, so that the array is released
  // in any case.
  const std::shared_ptr<void> owner(array.data, [release = array.release, owner = array.owner](void*) {
    if (release != nullptr) release_later(release, owner);
  });
  const Shape shape = shape_of(array);
  const Dtype dtype = dtype_of_array(array);
  const int64_t bytes = shape.entries() * size_of(dtype);
  if (array.data == nullptr && bytes > 0)
    throw std::invalid_argument("the data of an array is NULL, expected the address of its entries");
  return Tensor::on(std::make_shared<Storage>(array.data, bytes, owner), shape, dtype);
}

moonrank_array array_on(const Tensor& tensor) {
  if (tensor.dims() > MOONRANK_MOST_DIMS) {
    throw std::invalid_argument("a tensor of " + std::to_string(tensor.dims()) +
                                " dimensions cannot be returned, at most " + std::to_string(MOONRANK_MOST_DIMS) +
                                " can");
  }
  auto kept = std::make_unique<Tensor>(tensor.to(Device::cpu));
  moonrank_array array{};
  array.data = kept->raw();
  array.dtype = kept->dtype() == Dtype::float32   ? MOONRANK_FLOAT32
                : kept->dtype() == Dtype::float64 ? MOONRANK_FLOAT64
                                                  : MOONRANK_INT64;
  array.dims = kept->dims();
  for (int d = 0; d < array.dims; ++d) array.shape[d] = kept->size(d);
  array.release = [](void* owner) { std::unique_ptr<Tensor>(static_cast<Tensor*>(owner)).reset(); };
  array.owner = kept.release();
  return array;
}

}  // namespace mr::embed
