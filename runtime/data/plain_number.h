// Fast parser for short decimal numbers (0, 17, -0.25, 14.340359), eight characters at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace mr {

/// The leading digits of a text, at most eight, and their value.
struct Digits {
  uint64_t value;
  int count;
};

/// Counts and evaluates the digits at `at`. Reads 8 bytes, even if there are fewer digits.
inline Digits leading_digits(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  word ^= 0x3030303030303030;  // now a digit is a byte of 0 to 9, and any other character is 10 or more
  const uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
  // number of digits before the first other character; 8 if all are digits
  const int count = std::countr_zero(others) >> 3;
  if (count == 0) return {0, 0};
  word <<= 64 - 8 * count;  // moves the digits as if zeros preceded them, so that there are always 8 digits
  word = word * 10 + (word >> 8);
  const uint64_t low = (word & 0x000000FF000000FF) * 0x000F424000000064,
                 high = ((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001;
  return {(low + high) >> 32, count};
}

/// number of bytes that plain_number may read
constexpr int plain_number_reach = 32;

/// Parses digits, optionally with a point and more digits, and with or without '-'. The result is the decimal number
/// correctly rounded to float32. Returns the end of the number. Returns nullptr if another parser is needed: there is
/// no digit, there are eight or more digits before the point or more than 15 in all, or the number is too close to the
/// middle of two floats for double precision. The text at the end may continue the number (an exponent, more digits),
/// so the caller must check it.
inline const char* plain_number(const char* at, float& value) {
  static constexpr double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
  static constexpr uint64_t whole_powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  if constexpr (std::endian::native != std::endian::little) return nullptr;
  const bool negative = *at == '-';
  at += negative;
  const Digits whole = leading_digits(at);
  if (whole.count == 0 || whole.count == 8) return nullptr;
  at += whole.count;
  if (*at != '.') {
    // the conversion is exact, because the integer is below 2^24
    const auto exact = static_cast<float>(static_cast<int32_t>(whole.value));
    value = negative ? -exact : exact;
    return at;
  }
  Digits part = leading_digits(at + 1);
  if (part.count == 0) return nullptr;
  uint64_t digits = whole.value * whole_powers[part.count] + part.value;
  int behind = part.count;
  if (behind == 8) {
    part = leading_digits(at + 9);
    behind += part.count;
    if (whole.count + behind > 15) return nullptr;
    digits = digits * whole_powers[part.count] + part.value;
  }
  // Both operands are exact in double, so the quotient is rounded once. Rounding the quotient again to float32 is
  // correct, unless the quotient is exactly the middle of two floats: then the exact value may be on either side.
  const double rounded = static_cast<double>(static_cast<int64_t>(digits)) / powers[behind];
  if ((std::bit_cast<uint64_t>(rounded) & 0x1FFFFFFF) == 0x10000000) return nullptr;
  value = static_cast<float>(negative ? -rounded : rounded);
  return at + 1 + behind;
}

}  // namespace mr
