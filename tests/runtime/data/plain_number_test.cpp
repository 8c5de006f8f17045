#include "runtime/data/plain_number.h"

#include <cstdlib>
#include <cstring>
#include <string>

#include <catch2/catch.hpp>

#include "kernels/core/rng.h"

namespace {

/// Returns true and sets `value` if the fast number parser reads the whole word. Returns false if the word is left to
/// the slow parser.
bool fast(const std::string& word, float& value) {
  const std::string padded = word + " " + std::string(mr::plain_number_reach, '7');
  const char* const stop = mr::plain_number(padded.data(), value);
  return stop != nullptr && stop == padded.data() + word.size();
}

uint32_t bits(float x) { return std::bit_cast<uint32_t>(x); }

}  // namespace

TEST_CASE("plain_number reads decimals with the same bits as strtof") {
  const mr::RandomKey key = mr::random_key(1, "plain numbers");
  int64_t read = 0, wrong = 0;
  for (uint64_t i = 0; i < 200000; ++i) {
    const uint64_t random = mr::philox(key, i, 0).low();
    const int whole = 1 + static_cast<int>(random % 7), behind = static_cast<int>(random / 7 % 13);
    std::string word = random >> 60 == 0 ? "-" : "";
    uint64_t digits = mr::philox(key, i, 1).low();
    for (int d = 0; d < whole + behind; ++d, digits /= 10) {
      if (d == whole) word += '.';
      word += static_cast<char>('0' + digits % 10);
    }
    float value = 0;
    if (!fast(word, value)) continue;
    ++read;
    wrong += bits(value) != bits(std::strtof(word.c_str(), nullptr));
  }
  CHECK(wrong == 0);
  CHECK(read > 150000);
}

TEST_CASE("plain_number reads short decimals and declines signs, exponents, long digits and other words") {
  float value = 1;
  for (const char* const word : {"0", "-0", "-0.0", "7", "9999999", "0.000000", "1.0", "14.340359", "0.12345678",
                                 "0.123456789012", "9999999.99999999", "0.1", "0.00000000000001"}) {
    CAPTURE(word);
    REQUIRE(fast(word, value));
    CHECK(bits(value) == bits(std::strtof(word, nullptr)));
  }
  CHECK((fast("-0.0", value) && bits(value) == 0x80000000));
  CHECK((fast("0.00000000000001", value) && value == 1e-14F));
  for (const char* const word : {"", "-", "+1", ".5", "5.", "12345678", "0.1234567890123456", "0.30000001192092896",
                                 "x", "1x", "--1", "1.x", "1e5", "1.5e5", "nan", "inf", "1.2.3"}) {
    CAPTURE(word);
    CHECK_FALSE(fast(word, value));
  }
}

TEST_CASE("plain_number declines a decimal halfway between two floats") {
  float value = 0;
  // adjacent floats above 2^17 differ by 2^-6
  CHECK_FALSE(fast("131073.0078125", value));
  CHECK((fast("131073.00781249", value) && value == 131073.0F));
  CHECK((fast("131073.00781251", value) && value == 131073.015625F));
}
