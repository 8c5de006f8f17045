// Types of tensor entries. Scores and parameters are floating. int64 holds indices and counts and does not support
// arithmetic.
#pragma once

#include <concepts>
#include <cstdint>
#include <stdexcept>
#include <string_view>
#include <type_traits>

namespace mr {

enum class Dtype : uint8_t { float32, float64, int64 };

constexpr std::string_view name_of(Dtype type) {
  switch (type) {
    case Dtype::float32:
      return "float32";
    case Dtype::float64:
      return "float64";
    case Dtype::int64:
      return "int64";
  }
  return "?";
}

constexpr int64_t size_of(Dtype type) { return type == Dtype::float32 ? 4 : 8; }

/// The C++ types of tensor entries, const or not: float, double and int64_t. `dtype_of` is the Dtype of such a type.
template <class T>
concept Entry = std::same_as < std::remove_const_t<T>,
float > || std::same_as<std::remove_const_t<T>, double> || std::same_as<std::remove_const_t<T>, int64_t>;

template <Entry T>
constexpr Dtype dtype_of = std::is_integral_v<T> ? Dtype::int64
                           : sizeof(T) == 4      ? Dtype::float32
                                                 : Dtype::float64;

/// Calls f.operator()<Real>(), where Real is the C++ type of a floating dtype.
template <class F>
decltype(auto) with_real(Dtype type, F&& f) {
  switch (type) {
    case Dtype::float32:
      return f.template operator()<float>();
    case Dtype::float64:
      return f.template operator()<double>();
    case Dtype::int64:
      break;
  }
  throw std::invalid_argument(
      "int64 tensors hold indices and do not support arithmetic: convert with :double() or :float()");
}

/// Calls f.operator()<T>(), where T is the C++ type of any dtype.
template <class F>
decltype(auto) with_any(Dtype type, F&& f) {
  if (type == Dtype::int64) return f.template operator()<int64_t>();
  return with_real(type, f);
}

}  // namespace mr
