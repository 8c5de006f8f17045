// Numbers as files of features mostly spell them (0, 17, -0.25, 14.340359), read eight characters at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace mr {

/// The digits from an address on, at most eight of them, and their value.
struct Digits {
  uint64_t value;
  int count;
};

/// Reads 8 bytes at `at`, whatever follows the digits.
inline Digits leading_digits(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  word ^= 0x3030303030303030;  // a digit is now 0 to 9, and 10 or more is none
  const uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
  const int count = std::countr_zero(others) >> 3;  // 8 where all are digits
  if (count == 0) return {0, 0};
  word <<= 64 - 8 * count;  // as if zeros came before
  word = word * 10 + (word >> 8);
  const uint64_t low = (word & 0x000000FF000000FF) * 0x000F424000000064,
                 high = ((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001;
  return {(low + high) >> 32, count};
}

/// How many bytes plain_number may read.
constexpr int plain_number_reach = 32;

/// Reads digits, or digits with a point and digits behind it, with or without '-' before: the same float32 as rounding
/// the decimal number once. Returns where it ends, or nullptr where another reader is needed: no digit, eight or more
/// before the point, more than 15 in all, or a number so close to the middle of two floats that a double cannot tell.
/// The text after the returned end may still belong to the number (an exponent, more digits): the
/// caller checks.
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
    const auto exact = static_cast<float>(static_cast<int32_t>(whole.value));  // below 2^24
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
  // Both are exact in double, so this is the decimal number rounded once; rounding it again to float32 gives what
  // rounding at once gives, unless it is the middle of two floats: the exact number may be on either side of it.
  const double rounded = static_cast<double>(static_cast<int64_t>(digits)) / powers[behind];
  if ((std::bit_cast<uint64_t>(rounded) & 0x1FFFFFFF) == 0x10000000) return nullptr;
  value = static_cast<float>(negative ? -rounded : rounded);
  return at + 1 + behind;
}

}  // namespace mr
