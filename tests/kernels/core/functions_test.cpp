// Compares the math functions that give the same bits on every machine with Boost's 113-bit numbers, at random
// arguments of every size.
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include <boost/multiprecision/cpp_bin_float.hpp>
#include <catch2/catch.hpp>

#include "kernels/core/angles.h"
#include "kernels/core/powers.h"

using namespace mr;
using Exact = boost::multiprecision::cpp_bin_float_quad;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity(),
                 nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double smallest = std::numeric_limits<double>::denorm_min();

/// Returns the error of `got` in units in the last place (ulp) of a double near the exact value `want`.
double ulps(double got, const Exact& want) {
  const auto rounded = want.convert_to<double>();
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : infinity;
  int exponent = 0;
  std::frexp(rounded, &exponent);
  const Exact distance = boost::multiprecision::abs(Exact(got) - want);
  return ldexp(distance, 53 - std::max(exponent, -1021)).convert_to<double>();
}

class Arguments {
 public:
  double between(double low, double high) { return low + (high - low) * static_cast<double>(bits_() >> 11) * 0x1p-53; }
  /// Returns a random number of either sign with a random exponent, down to 2^-70.
  double small() { return std::ldexp(between(-1, 1), -static_cast<int>(bits_() % 70)); }
  double positive() {
    const uint64_t bits = bits_() % 0x7FF0000000000000;
    double x = 0;
    std::memcpy(&x, &bits, sizeof x);
    return x;
  }

 private:
  std::mt19937_64 bits_{1};
};

/// Returns the largest error, in units in the last place, of the function `own` at 3,000 random arguments.
template <class Own, class Right, class Draw>
double worst(Own own, Right right, Draw draw) {
  double most = 0;
  for (int i = 0; i < 3000; ++i) {
    const double x = draw();
    const double error = ulps(own(x), right(Exact(x)));
    if (error > most) most = error;
  }
  return most;
}

#define OWN(name) [](double x) { return portable::name(x); }
#define RIGHT(name) [](const Exact& x) -> Exact { return boost::multiprecision::name(x); }

}  // namespace

TEST_CASE("portable exp, exp2, expm1 and tanh are accurate to 1.4 units in the last place") {
  Arguments any;
  const auto small = [&] { return any.small(); };
  CHECK(worst(OWN(exp), RIGHT(exp), [&] { return any.between(-745, 709.7); }) < 0.9);
  CHECK(worst(OWN(exp), RIGHT(exp), small) < 0.9);
  CHECK(worst(OWN(exp2), RIGHT(exp2), [&] { return any.between(-1074, 1023.9); }) < 1.1);
  CHECK(worst(OWN(exp2), RIGHT(exp2), small) < 1.1);
  CHECK(worst(OWN(expm1), RIGHT(expm1), [&] { return any.between(-40, 709.7); }) < 1.4);
  CHECK(worst(OWN(expm1), RIGHT(expm1), [&] { return any.between(-2, 2); }) < 1.4);
  CHECK(worst(OWN(expm1), RIGHT(expm1), small) < 1.4);
  CHECK(worst(OWN(tanh), RIGHT(tanh), [&] { return any.between(-2, 2); }) < 1.4);
  CHECK(worst(OWN(tanh), RIGHT(tanh), [&] { return any.between(-25, 25); }) < 1.4);
  CHECK(worst(OWN(tanh), RIGHT(tanh), small) < 1.4);
}

TEST_CASE("portable log and log1p are accurate to 0.9 units in the last place, log_factorial to 4") {
  Arguments any;
  CHECK(worst(OWN(log), RIGHT(log), [&] { return any.between(0, 4); }) < 0.9);
  CHECK(worst(OWN(log), RIGHT(log), [&] { return 1 + any.small() / 2; }) < 0.9);
  CHECK(worst(OWN(log), RIGHT(log), [&] { return any.positive(); }) < 0.9);
  CHECK(worst(OWN(log), RIGHT(log), [&] { return smallest * std::floor(any.between(1, 1e9)); }) < 0.9);
  CHECK(worst(OWN(log1p), RIGHT(log1p), [&] { return any.between(-1, 3); }) < 0.9);
  CHECK(worst(OWN(log1p), RIGHT(log1p), [&] { return any.small() * 0.99; }) < 0.9);
  CHECK(worst(OWN(log1p), RIGHT(log1p), [&] { return any.positive(); }) < 0.9);
  double most = 0;
  for (int64_t n = 0; n < 3000; ++n) {
    const double error = ulps(portable::log_factorial(n), boost::multiprecision::lgamma(Exact(n) + 1));
    most = std::max(most, error);
  }
  CHECK(most < 4);
}

TEST_CASE("portable sin and cos are accurate to 0.9 units in the last place up to 1.6 million") {
  Arguments any;
  for (const double most : {1., 10., 1.6e6}) {
    CHECK(worst(OWN(sin), RIGHT(sin), [&] { return any.between(-most, most); }) < 0.9);
    CHECK(worst(OWN(cos), RIGHT(cos), [&] { return any.between(-most, most); }) < 0.9);
  }
  CHECK(worst(OWN(sin), RIGHT(sin), [&] { return any.small(); }) < 0.9);
  CHECK(std::fabs(portable::sin(1e9) - std::sin(1e9)) < 1e-6);
}

TEST_CASE("portable pow is accurate to 1.3 units in the last place for every exponent") {
  Arguments any;
  double most = 0;
  for (int i = 0; i < 6000; ++i) {
    const double x = i % 3 == 0 ? any.positive() : i % 3 == 1 ? any.between(0, 1) : 1 + any.small() / 2;
    const double y = i % 2 == 0 ? any.between(-10, 10) : any.between(-1100, 1100) / std::fabs(std::log2(x));
    if (std::isfinite(y))
      most = std::max(most, ulps(portable::pow(x, y), boost::multiprecision::pow(Exact(x), Exact(y))));
  }
  CHECK(most < 1.3);
  const double decays[] = {0.9, 0.95, 0.999, 0.9999, 1 - 1e-9};
  for (const double base : decays)
    for (const double exponent : {1., 7., 1000., 123456., 1e6})
      CHECK(ulps(portable::pow(base, exponent), boost::multiprecision::pow(Exact(base), Exact(exponent))) < 1.3);
}

TEST_CASE("portable functions are exact if the result is a double") {
  for (int k = -1074; k < 1024; ++k) {
    REQUIRE(portable::exp2(static_cast<double>(k)) == std::ldexp(1.0, k));
    REQUIRE(portable::pow(2.0, static_cast<double>(k)) == std::ldexp(1.0, k));
  }
  for (int k = 1; k < 2000; ++k) {
    const double x = k;
    REQUIRE(portable::pow(x, 2.0) == x * x);
    REQUIRE(portable::pow(x, 3.0) == x * x * x);
    REQUIRE(portable::pow(x * x, 0.5) == x);
  }
  CHECK(portable::exp(0.0) == 1);
  CHECK(portable::log(1.0) == 0);
  CHECK(portable::cos(0.0) == 1);
}

TEST_CASE("portable functions agree with the C library at zeros, infinities, NaN and subnormal numbers") {
  struct Pair {
    double (*own)(double), (*library)(double);
  };
  const Pair pairs[] = {{OWN(exp), std::exp}, {OWN(exp2), std::exp2},   {OWN(expm1), std::expm1},
                        {OWN(log), std::log}, {OWN(log1p), std::log1p}, {OWN(tanh), std::tanh},
                        {OWN(sin), std::sin}, {OWN(cos), std::cos}};
  for (const Pair& f : pairs) {
    for (const double x :
         {0.0, -0.0, 1.0, -1.0, infinity, -infinity, nan_value, smallest, -smallest, 1e-310, -1e-310, -0.5}) {
      const double own = f.own(x), library = f.library(x);
      INFO("function " << &f - pairs << " at " << x);
      CHECK(std::isnan(own) == std::isnan(library));
      if (std::isnan(library)) continue;
      CHECK((own == library || std::fabs(own - library) < 3e-16 * std::fabs(library)));
      CHECK(std::signbit(own) == std::signbit(library));
    }
  }
  CHECK(portable::exp(709.79) == infinity);
  CHECK(portable::exp(-745.2) == 0);
  CHECK(portable::expm1(1e308) == infinity);
  CHECK(portable::expm1(-1e308) == -1);
  CHECK(portable::log(std::numeric_limits<double>::max()) == Approx(709.782712893384));
}

TEST_CASE("portable pow agrees with the C library at zeros, infinities, NaN and negative numbers") {
  const double ends[] = {0.0,       -0.0,  1,      -1,     infinity,   -infinity,   nan_value,   0.5,
                         -0.5,      2,     -2,     3,      -3,         2.5,         -2.5,        smallest,
                         -smallest, 1e308, -1e308, 0x1p53, 0x1p53 + 2, -0x1p53 - 2, -0x1p52 - 1, 0x1p52 + 1};
  for (const double x : ends) {
    for (const double y : ends) {
      const double own = portable::pow(x, y), library = std::pow(x, y);
      INFO(x << " to the power of " << y);
      CHECK(std::isnan(own) == std::isnan(library));
      if (std::isnan(library)) continue;
      CHECK((own == library || std::fabs(own - library) < 3e-16 * std::fabs(library)));
      CHECK(std::signbit(own) == std::signbit(library));
    }
  }
}

TEST_CASE("portable exp, tanh and log are monotone, and exp of a float is rounded once") {
  Arguments any;
  for (int i = 0; i < 20000; ++i) {
    const double x = any.between(-20, 20), far = x + 1e-14;
    REQUIRE(portable::exp(x) <= portable::exp(far));
    REQUIRE(portable::tanh(x) <= portable::tanh(far));
    REQUIRE(portable::log(std::fabs(x)) <= portable::log(std::fabs(x) + 1e-13));
    const auto narrow = static_cast<float>(x);
    REQUIRE(portable::exp(narrow) == static_cast<float>(portable::exp(static_cast<double>(narrow))));
  }
}
