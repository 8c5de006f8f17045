#include "runtime/ops/argument_checks.h"

#include <atomic>
#include <cmath>
#include <cstdio>
#include <type_traits>

#include "kernels/core/threads.h"
#include "kernels/tensor/rows.h"
#include "runtime/ops/tally.h"

namespace mr::check {
namespace {

[[noreturn]] void fail(const char* name, const std::string& text) { throw ArgumentError(name, text); }

std::string entries(const char* name, const Tensor& x) {
  return std::string(name) + " has " + std::to_string(x.entries()) + " entries";
}

}  // namespace

void floating(const char* name, const Tensor& x) {
  if (x.dtype() == Dtype::int64)
    fail(name, "int64 tensors hold indices and do not support arithmetic: convert with :double() or :float()");
}

void fits_int64(const char* name, const Tensor& x) {
  if (x.dtype() == Dtype::int64) return;
  with_real(x.dtype(), [&]<class Real>() {
    const Tensor here = x.to(Device::cpu);
    const auto values = here.span<const Real>();
    for (int64_t i = 0; i < values.size; ++i) {
      if (values[i] >= Real(-0x1p63) && values[i] < Real(0x1p63)) continue;
      fail(name, std::string(name) + " has " + number_text(static_cast<double>(values[i])) + " at entry " +
                     std::to_string(i + 1) + ", expected -2^63 to 2^63 - 1, which int64 holds");
    }
  });
}

void type(const char* name, const Tensor& x, Dtype expected) {
  if (x.dtype() == expected) return;
  fail(name,
       std::string(name) + " is " + std::string(name_of(x.dtype())) + ", expected " + std::string(name_of(expected)));
}

void per_row(const char* name, const Tensor& x, const Lists& lists) {
  floating(name, x);
  if (x.entries() != lists.rows())
    fail(name, entries(name, x) + " but lists have " + std::to_string(lists.rows()) + " rows");
}

void per_list(const char* name, const Tensor& x, const Lists& lists) {
  floating(name, x);
  if (x.entries() != lists.count())
    fail(name, entries(name, x) + " but there are " + std::to_string(lists.count()) + " lists");
}

void same_shape(const char* name, const Tensor& x, const char* other_name, const Tensor& other) {
  if (x.shape() == other.shape()) return;
  fail(name, std::string(name) + " has shape " + x.shape().text() + " but " + other_name + " has shape " +
                 other.shape().text());
}

void same_kind(const char* name, const Tensor& x, const char* other_name, const Tensor& other) {
  if (x.device() != other.device()) {
    fail(name, std::string(name) + " is on " + std::string(name_of(x.device())) + " but " + other_name + " is on " +
                   std::string(name_of(other.device())) + ": move one with :to()");
  }
  if (x.dtype() != other.dtype()) {
    fail(name, std::string(name) + " is " + std::string(name_of(x.dtype())) + " but " + other_name + " is " +
                   std::string(name_of(other.dtype())) + ": convert one with :double() or :float()");
  }
}

namespace {

/// Runs launch(word), which starts a GPU kernel that sets a word if it finds what it looks for, such as a NaN. Returns
/// true if the word was set. Only the word is copied to the host, not the tensor.
template <class Launch>
bool notes(Device device, Launch launch) {
  const Tensor word = Tensor::zeros({1}, Dtype::int64, device);
  launch(word.span<int64_t>().data);
  return word.to_vector<int64_t>()[0] != 0;
}

bool has_nan_there(const Tensor& x) {
  return with_real(x.dtype(), [&]<class Real>() {
    return notes(x.device(), [&](int64_t* found) {
      kernels<ArithmeticKernels<Real>>(x.device()).note_nan(x.entries(), {x.span<const Real>(), found});
    });
  });
}

}  // namespace

void not_nan(const char* operation, const char* name, const Tensor& x) {
  if (Tally::note_nan(operation, name, x)) return;
  if (x.device() == Device::cuda && !has_nan_there(x)) return;
  with_real(x.dtype(), [&]<class Real>() {
    const Tensor here = x.device() == Device::cpu ? x : x.to(Device::cpu);
    const auto* const values = here.span<const Real>().data;
    // an integer type as wide as Real, so that the loop is vectorized
    using Flag = std::conditional_t<sizeof(Real) == 4, int32_t, int64_t>;
    const int64_t n = x.entries();
    std::atomic<bool> any{false};
    cpu::parallel(n, 32768, [&](int64_t first, int64_t last) {
      Flag here_any = 0;
      for (int64_t i = first; i < last; ++i) here_any |= static_cast<Flag>(std::isnan(values[i]));
      if (here_any != 0) any = true;
    });
    for (int64_t i = 0; any && i < n; ++i) {
      if (std::isnan(values[i])) fail(name, std::string(name) + " has NaN at entry " + std::to_string(i + 1));
    }
  });
}

void positive(const char* name, double value) {
  if (!(value > 0) || std::isinf(value))
    fail(name, std::string(name) + " is " + number_text(value) + ", expected a positive finite number");
}

void finite(const char* name, double value) {
  if (!std::isfinite(value)) fail(name, std::string(name) + " is " + number_text(value) + ", expected a finite number");
}

void index(const char* name, const Tensor& x, int64_t n) {
  type(name, x, Dtype::int64);
  const bool is_there = x.host_bytes() == nullptr;
  if (is_there && !notes(x.device(), [&](int64_t* found) {
        kernels<MoveKernels<int64_t>>(x.device()).note_outside(x.entries(), {x.span<const int64_t>(), n, found});
      }))
    return;
  const Tensor here = is_there ? x.to(Device::cpu) : x;
  const auto* const values = static_cast<const int64_t*>(here.host_bytes());
  uint64_t outside = 0;  // highest bit: 1 if a value is below 1 or above n
  for (int64_t i = 0; i < x.entries(); ++i) {
    const auto value = static_cast<uint64_t>(values[i]);
    outside |= (value - 1) | (static_cast<uint64_t>(n) - value);
  }
  for (int64_t i = 0; outside >> 63 != 0 && i < x.entries(); ++i) {
    if (values[i] < 1 || values[i] > n) {
      fail(name, std::string(name) + " has " + std::to_string(values[i]) + " at entry " + std::to_string(i + 1) +
                     ", expected 1 to " + std::to_string(n));
    }
  }
}

void as_many(const char* name, size_t found, const char* each, size_t expected) {
  if (found == expected) return;
  throw ArgumentError(
      name, std::to_string(found) + " " + name + ", expected " + std::to_string(expected) + ", one for each " + each);
}

int dimension(const char* name, const Tensor& x, int64_t dim) {
  if (x.dims() == 0) fail(name, "a tensor of shape {} has no dimensions, expected a tensor with at least one");
  if (dim < 1 || dim > x.dims()) {
    fail(name, "dimension " + std::to_string(dim) + " of a tensor of shape " + x.shape().text() + ", expected 1 to " +
                   std::to_string(x.dims()) + (dim < 0 ? "; write x.dims for the last dimension, not -1" : ""));
  }
  return static_cast<int>(dim) - 1;
}

}  // namespace mr::check
