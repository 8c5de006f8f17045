// Fast parser for short decimal numbers such as 0, 17, -0.25 or 14.340359. It treats eight characters at a time.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

namespace mr {

/// Digits at the start of a text, at most eight: their number, and their value as an integer.
struct Digits {
  uint64_t value;
  int count;
};

/// Returns number and value of the digits at the start of the text `at`. Reads 8 bytes, even if there are fewer digits.
inline Digits leading_digits(const char* at) {
  uint64_t word = 0;
  std::memcpy(&word, at, sizeof word);
  word ^= 0x3030303030303030;  // now a digit is a byte of 0 to 9, and any other character is 10 or more
  const uint64_t others = ((word + 0x7676767676767676) | word) & 0x8080808080808080;
  // number of digits before the first character that is not a digit; 8 if all are digits
  const int count = std::countr_zero(others) >> 3;
  if (count == 0) return {0, 0};
  // shifts the digits to the end of the word, so that zeros precede them and there are always 8 digits
  word <<= 64 - 8 * count;
  word = word * 10 + (word >> 8);
  const uint64_t low = (word & 0x000000FF000000FF) * 0x000F424000000064,
                 high = ((word >> 16) & 0x000000FF000000FF) * 0x0000271000000001;
  return {(low + high) >> 32, count};
}

/// Returns the number `x` >= 0, or -x if `negative`, without a branch, which would often be mispredicted.
inline float with_sign(float x, bool negative) {
  return std::bit_cast<float>(std::bit_cast<uint32_t>(x) | uint32_t{negative} << 31);
}

/// largest number of bytes that plain_number reads
constexpr int plain_number_reach = 32;

/// Parses a decimal number: digits, perhaps a "-" before them, and perhaps a point and digits after them. `value`
/// becomes the number, correctly rounded to float32; the result is the position after the number. Returns nullptr if
/// another parser is needed: if there is no digit, if there are eight or more digits before the point or more than 15
/// in all, or if double precision cannot tell to which of two floats to round. The caller must check that the number
/// really ends there: an exponent or more digits may follow.
inline const char* plain_number(const char* at, float& value) {
  static constexpr double powers[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14};
  static constexpr uint64_t whole_powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  if constexpr (std::endian::native != std::endian::little) return nullptr;
  const bool negative = *at == '-';
  at += negative;
  // most numbers of data sets have one digit before the point
  const bool one_digit = at[1] == '.' && at[0] >= '0' && at[0] <= '9';
  const Digits whole = one_digit ? Digits{static_cast<uint64_t>(at[0] - '0'), 1} : leading_digits(at);
  if (whole.count == 0 || whole.count == 8) return nullptr;
  at += whole.count;
  if (*at != '.') {
    // the conversion is exact, because the integer is below 2^24
    value = with_sign(static_cast<float>(static_cast<int32_t>(whole.value)), negative);
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
  // Numerator and denominator are exact in double precision, so the quotient is rounded once. Rounding it again to
  // float32 is right, unless it is exactly the middle of two floats: the exact value may then lie on either side.
  const double rounded = static_cast<double>(static_cast<int64_t>(digits)) / powers[behind];
  if ((std::bit_cast<uint64_t>(rounded) & 0x1FFFFFFF) == 0x10000000) return nullptr;
  value = with_sign(static_cast<float>(rounded), negative);
  return at + 1 + behind;
}

}  // namespace mr
