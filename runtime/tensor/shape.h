// The sizes of a row-major tensor with at most six dimensions.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <string>

#include "kernels/core/view.h"

namespace mr {

class Shape {
 public:
  static constexpr int max_dims = Broadcast::max_dims;

  Shape() = default;
  Shape(std::initializer_list<int64_t> sizes) {
    for (const int64_t n : sizes) append(n);
  }

  void append(int64_t n) {
    if (dims_ == max_dims) throw std::invalid_argument("a tensor has at most 6 dimensions");
    if (n < 0) throw std::invalid_argument("a size is " + std::to_string(n) + ", expected 0 or more");
    size_[dims_++] = n;
  }

  int dims() const { return dims_; }
  int64_t operator[](int d) const { return size_[d]; }
  void set(int d, int64_t n) { size_[d] = n; }
  int64_t front() const { return dims_ == 0 ? 1 : size_[0]; }

  /// Returns the number of entries. Throws if it, or a stride, would overflow.
  int64_t entries() const {
    int64_t n = 1;
    bool none = false;
    for (int d = 0; d < dims_; ++d) {
      none = none || size_[d] == 0;
      if (size_[d] != 0 && (__builtin_mul_overflow(n, size_[d], &n) || n > (int64_t{1} << 56))) {
        throw std::invalid_argument("a tensor of shape " + text() + " is too large");
      }
    }
    return none ? 0 : n;
  }

  /// Returns the distance in entries between successive indices of dimension d.
  int64_t stride(int d) const {
    int64_t n = 1;
    for (int e = d + 1; e < dims_; ++e) n *= size_[e];
    return n;
  }

  Shape without(int d) const {
    Shape rest;
    for (int e = 0; e < dims_; ++e) {
      if (e != d) rest.append(size_[e]);
    }
    return rest;
  }

  /// Returns the sizes in Lua's notation: "{2, 3}".
  std::string text() const {
    std::string out = "{";
    for (int d = 0; d < dims_; ++d) out += (d > 0 ? ", " : "") + std::to_string(size_[d]);
    return out + "}";
  }

  friend bool operator==(const Shape& a, const Shape& b) {
    if (a.dims_ != b.dims_) return false;
    for (int d = 0; d < a.dims_; ++d) {
      if (a.size_[d] != b.size_[d]) return false;
    }
    return true;
  }

 private:
  std::array<int64_t, max_dims> size_{};
  int dims_ = 0;
};

}  // namespace mr
