// Compares the random number generator with the known answers of Random123 (kat_vectors, philox4x32 10), distributions
// with their definitions, and the normal quantile with Boost.
#include "kernels/core/rng.h"

#include <array>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <boost/math/special_functions/erf.hpp>
#include <catch2/catch.hpp>

#include "kernels/tensor/normal.h"

namespace mr {
namespace {

using Words = std::array<uint32_t, 4>;
__extension__ using Wide = unsigned __int128;

uint64_t join(uint32_t low, uint32_t high) { return (static_cast<uint64_t>(high) << 32) | low; }

Words philox_words(const Words& counter, uint32_t key0, uint32_t key1) {
  const Random128 r = philox({join(key0, key1)}, join(counter[0], counter[1]), join(counter[2], counter[3]));
  return {r.word[0], r.word[1], r.word[2], r.word[3]};
}

TEST_CASE("philox gives the answers published by Random123", "[kernels][rng]") {
  CHECK(philox_words({0, 0, 0, 0}, 0, 0) == Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  const uint32_t ones = 0xffffffff;
  CHECK(philox_words({ones, ones, ones, ones}, ones, ones) == Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(philox_words({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0xa4093822, 0x299f31d0) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("Random128 splits its four words into low and high halves", "[kernels][rng]") {
  const Random128 r{{1, 2, 3, 4}};
  CHECK(r.low() == 0x0000000200000001ULL);
  CHECK(r.high() == 0x0000000400000003ULL);
}

TEST_CASE("uniform fills the unit interval evenly", "[kernels][rng]") {
  const RandomKey key = random_key(GENERATE(as<uint64_t>(), 0, 1, 20211), "uniform");
  constexpr int n = 100000, bins = 100;
  std::vector<int> count(bins, 0);
  double sum = 0;
  bool inside = true;
  for (uint64_t i = 0; i < n; ++i) {
    const double u = uniform(key, i);
    inside = inside && u >= 0 && u < 1;
    sum += u;
    ++count[static_cast<size_t>(u * bins)];
  }
  REQUIRE(inside);
  // tolerances are 5 standard errors; chi-square with 99 degrees of freedom has mean 99 and standard deviation 14
  CHECK(std::fabs(sum / n - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
  double chi = 0;
  for (const int c : count) chi += (c - n / bins) * (c - n / bins) / static_cast<double>(n / bins);
  CHECK(chi > 99 - 5 * 14.1);
  CHECK(chi < 99 + 5 * 14.1);
}

TEST_CASE("uniform uses 53 bits of the generator", "[kernels][rng]") {
  const RandomKey key = random_key(3, "bits");
  for (uint64_t i = 0; i < 100; ++i) {
    CHECK(uniform(key, i) == std::ldexp(static_cast<double>(philox(key, i).low() >> 11), -53));
  }
}

TEST_CASE("bounded returns the high word of bits times n for n up to 2^32", "[kernels][rng]") {
  const uint64_t n = GENERATE(as<uint64_t>(), 1, 2, 3, 7, 1000, 4294967295, 4294967296);
  for (const uint64_t bits : std::vector<uint64_t>{0, 1, ~uint64_t{0}, uint64_t{1} << 63, 0x123456789abcdef0}) {
    CHECK(bounded(bits, n) == static_cast<uint64_t>((static_cast<Wide>(bits) * n) >> 64));
  }
  CHECK(bounded(0, n) == 0);
  CHECK(bounded(~uint64_t{0}, n) == n - 1);
}

TEST_CASE("bounded draws every value with the same probability", "[kernels][rng]") {
  const RandomKey key = random_key(11, "bounded");
  std::vector<int> count(7, 0);
  const int n = 70000;
  for (int i = 0; i < n; ++i) ++count[bounded(philox(key, static_cast<uint64_t>(i)).low(), 7)];
  for (const int c : count) CHECK(std::fabs(c - 10000.0) < 5 * std::sqrt(n * (1.0 / 7) * (6.0 / 7)));
}

TEST_CASE("normal_quantile agrees with Boost", "[kernels][rng]") {
  // the expected normal quantile, by Boost: z = -sqrt(2) erfc^-1(2 p), in long double
  const auto exact = [](double p) {
    return static_cast<double>(-std::sqrt(2.0L) * boost::math::erfc_inv(2 * static_cast<long double>(p)));
  };
  const auto check = [&](double p) {
    CAPTURE(p);
    CHECK(normal_quantile(p) == Approx(exact(p)).epsilon(4e-15).margin(1e-16));
  };
  for (int i = 1; i < 1000; ++i) check(i / 1000.0);
  for (const double p : {0.075, std::nextafter(0.075, 0.0), std::nextafter(0.075, 1.0), 0.925}) check(p);
  for (int e = 10; e <= 54; ++e) check(std::ldexp(1.0, -e));
  for (int e = 10; e <= 53; ++e) check(1 - std::ldexp(1.0, -e));
  CHECK(normal_quantile(0.5) == 0);
  CHECK(normal_quantile(0.975) == Approx(1.959963984540054).epsilon(1e-14));
}

TEST_CASE("portable_log and portable_sqrt agree with the C library", "[kernels][rng]") {
  for (double x = 1; x > 1e-17; x *= 0.917) {
    CAPTURE(x);
    CHECK(portable_log(x) == Approx(std::log(x)).epsilon(2e-15).margin(1e-16));
    CHECK(portable_sqrt(-std::log(x) + 1e-3) == Approx(std::sqrt(-std::log(x) + 1e-3)).epsilon(1e-15));
  }
}

TEST_CASE("normal has the moments of the normal distribution", "[kernels][rng]") {
  const RandomKey key = random_key(5, "normal");
  constexpr int n = 100000;
  double m1 = 0, m2 = 0, m4 = 0;
  for (uint64_t i = 0; i < n; ++i) {
    const double z = normal(key, i);
    m1 += z / n;
    m2 += z * z / n;
    m4 += z * z * z * z / n;
  }
  CHECK(std::fabs(m1) < 5 / std::sqrt(n));
  CHECK(std::fabs(m2 - 1) < 5 * std::sqrt(2.0 / n));
  CHECK(std::fabs(m4 - 3) < 5 * std::sqrt(96.0 / n));
}

TEST_CASE("random_key gives unrelated sequences for close seeds and names", "[kernels][rng]") {
  std::set<uint64_t> keys, first;
  int made = 0;
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    for (const char* name : {"", "a", "b", "ab", "ba", "split", "split1", "users", "items"}) {
      const RandomKey key = random_key(seed, name);
      keys.insert(key.value);
      first.insert(philox(key, 0).low());
      ++made;
    }
  }
  CHECK(keys.size() == static_cast<size_t>(made));
  CHECK(first.size() == static_cast<size_t>(made));

  // random numbers with neighbouring seeds, streams or positions must be uncorrelated
  const auto correlation = [](auto a, auto b) {
    constexpr int n = 20000;
    double sum = 0;
    for (uint64_t i = 0; i < n; ++i) sum += (a(i) - 0.5) * (b(i) - 0.5) * 12 / n;
    return std::fabs(sum) * std::sqrt(n);
  };
  const RandomKey one = random_key(1, "x"), two = random_key(2, "x"), other = random_key(1, "y");
  const auto of = [](RandomKey key, uint64_t shift = 0) { return [=](uint64_t i) { return uniform(key, i + shift); }; };
  CHECK(correlation(of(one), of(two)) < 5);
  CHECK(correlation(of(one), of(other)) < 5);
  CHECK(correlation(of(one), of(one, 1)) < 5);
}

TEST_CASE("random_key is the documented hash", "[kernels][rng]") {
  // the expected key of seed 0 and an empty name: the FNV-1a hash of an empty text (its offset basis), mixed by
  // splitmix64
  uint64_t z = 14695981039346656037ULL ^ 0x9E3779B97F4A7C15ULL;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  CHECK(random_key(0, "").value == (z ^ (z >> 31)));
}

}  // namespace
}  // namespace mr
