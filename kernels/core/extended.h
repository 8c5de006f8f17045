// Extended: numbers with 64 bits of significand, for sums that are rounded to double at the end. On x86-64 that is long
// double. Where long double has 113 bits, as on aarch64, each result is rounded to 64 bits, so that it is the same
// number. (A quotient is rounded twice, which matters less than once in 10^14 quotients.)
#pragma once

#include <cfloat>
#include <compare>
#include <concepts>
#include <cstring>

namespace mr {

#if LDBL_MANT_DIG == 64
using Extended = long double;
#else
static_assert(LDBL_MANT_DIG == 113);

class Extended {
 public:
  constexpr Extended() = default;
  template <class Number>
  requires std::integral<Number> || std::floating_point<Number>
  constexpr Extended(Number x) : value_(x) {}  // NOLINT: implicit, like a conversion to long double

  template <class Number>
  explicit operator Number() const {
    return static_cast<Number>(value_);
  }

  friend Extended operator+(Extended a, Extended b) { return rounded(a.value_ + b.value_); }
  friend Extended operator-(Extended a, Extended b) { return rounded(a.value_ - b.value_); }
  friend Extended operator*(Extended a, Extended b) { return rounded(a.value_ * b.value_); }
  friend Extended operator/(Extended a, Extended b) { return rounded(a.value_ / b.value_); }
  friend Extended operator-(Extended a) { return Extended(-a.value_); }
  friend auto operator<=>(Extended a, Extended b) { return a.value_ <=> b.value_; }
  Extended& operator+=(Extended b) { return *this = *this + b; }

 private:
  /// Rounds to the nearest number, ties to even: drops 49 of the 112 bits of the fraction.
  static Extended rounded(long double x) {
    constexpr int dropped = LDBL_MANT_DIG - 64;
    __extension__ typedef unsigned __int128 Bits;  // NOLINT: __extension__ needs typedef
    Bits bits;
    std::memcpy(&bits, &x, sizeof bits);
    const Bits one = 1, last = (bits >> dropped) & 1;
    bits += (one << (dropped - 1)) - 1 + last;
    bits &= ~((one << dropped) - 1);
    std::memcpy(&x, &bits, sizeof bits);
    return Extended(x);
  }

  long double value_ = 0;
};
#endif

}  // namespace mr
