#include "runtime/io/formats/number_types.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <vector>

namespace mr::io {
namespace {

float from_bits(uint32_t bits) { return std::bit_cast<float>(bits); }

/// Returns the value of a number of IEEE 754's type binary16.
float of_half(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000U) << 16, exponent = (half >> 10) & 0x1FU;
  const uint32_t fraction = half & 0x3FFU;
  if (exponent == 0x1F) return from_bits(sign | 0x7F800000U | fraction << 13);
  if (exponent == 0) {  // zero or subnormal: fraction * 2^-24, which a float holds exactly
    const float size = static_cast<float>(fraction) * 0x1p-24F;
    return sign != 0 ? -size : size;
  }
  return from_bits(sign | (exponent + 112) << 23 | fraction << 13);
}

/// Returns the number of type T that these bytes of a file hold.
template <class T>
T number_at(const unsigned char* bytes, bool swapped) {
  unsigned char ordered[sizeof(T)];
  std::copy_n(bytes, sizeof(T), ordered);
  if (swapped) std::reverse(ordered, ordered + sizeof(T));
  T value;
  std::memcpy(&value, ordered, sizeof(T));
  return value;
}

int64_t checked(uint64_t value) {
  if (value > static_cast<uint64_t>(INT64_MAX))
    throw std::range_error("has the number " + std::to_string(value) + ", expected at most 2^63 - 1");
  return static_cast<int64_t>(value);
}

/// Calls f(convert), where `convert` is a function from the bytes of one number of this type in a file to its value.
template <class F>
void with_conversion(NumberType type, bool swapped, const F& f) {
  const auto as_is = [&]<class T>() { f([=](const unsigned char* b) { return number_at<T>(b, swapped); }); };
  switch (type) {
    case NumberType::boolean:
      return f([](const unsigned char* b) { return int64_t{*b != 0}; });
    case NumberType::int8:
      return as_is.template operator()<int8_t>();
    case NumberType::int16:
      return as_is.template operator()<int16_t>();
    case NumberType::int32:
      return as_is.template operator()<int32_t>();
    case NumberType::int64:
      return as_is.template operator()<int64_t>();
    case NumberType::uint8:
      return as_is.template operator()<uint8_t>();
    case NumberType::uint16:
      return as_is.template operator()<uint16_t>();
    case NumberType::uint32:
      return as_is.template operator()<uint32_t>();
    case NumberType::uint64:
      return f([=](const unsigned char* b) { return checked(number_at<uint64_t>(b, swapped)); });
    case NumberType::float16:
      return f([=](const unsigned char* b) { return of_half(number_at<uint16_t>(b, swapped)); });
    case NumberType::bfloat16:
      return f([=](const unsigned char* b) { return from_bits(uint32_t{number_at<uint16_t>(b, swapped)} << 16); });
    case NumberType::float32:
      return as_is.template operator()<float>();
    case NumberType::float64:
      return as_is.template operator()<double>();
  }
}

bool is_native(NumberType type) {
  return type == NumberType::int64 || type == NumberType::float32 || type == NumberType::float64;
}

}  // namespace

int64_t bytes_of(NumberType type) {
  switch (type) {
    case NumberType::boolean:
    case NumberType::int8:
    case NumberType::uint8:
      return 1;
    case NumberType::int16:
    case NumberType::uint16:
    case NumberType::float16:
    case NumberType::bfloat16:
      return 2;
    case NumberType::int32:
    case NumberType::uint32:
    case NumberType::float32:
      return 4;
    default:
      return 8;
  }
}

Dtype dtype_for(NumberType type) {
  if (type == NumberType::float64) return Dtype::float64;
  const bool is_short = type == NumberType::float16 || type == NumberType::bfloat16 || type == NumberType::float32;
  return is_short ? Dtype::float32 : Dtype::int64;
}

Tensor tensor_of_numbers(NumberType type, bool swapped, const Shape& shape,
                         const std::function<void(void* target, int64_t bytes)>& read) {
  Tensor out = Tensor::empty(shape, dtype_for(type));
  if (is_native(type) && !swapped) {
    read(out.raw(), out.bytes());
    return out;
  }
  constexpr int64_t most_at_once = 1 << 16;
  const int64_t size = bytes_of(type);
  std::vector<unsigned char> bytes(static_cast<size_t>(std::min(out.entries(), most_at_once) * size));
  with_any(out.dtype(), [&]<class T>() {
    T* target = out.span<T>().data;
    with_conversion(type, swapped, [&](const auto& converted) {
      for (int64_t left = out.entries(); left > 0; left -= most_at_once) {
        const int64_t count = std::min(left, most_at_once);
        read(bytes.data(), count * size);
        for (int64_t i = 0; i < count; ++i) *target++ = static_cast<T>(converted(bytes.data() + i * size));
      }
    });
  });
  return out;
}

}  // namespace mr::io
