// Tests the groups on which kernels run. The serial group (one lane) is compared with plain loops, and the emulated
// groups of GPU lanes are compared with the serial one.
#include "kernels/core/group.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include <catch2/catch.hpp>

#include "tests/support/emulated_group.h"

namespace mr {
namespace {

using test::EmulatedGroup;
using test::Order;

std::vector<double> values(int64_t n) {
  std::vector<double> out;
  for (int64_t i = 0; i < n; ++i) out.push_back(std::sin(static_cast<double>(i * i) + 0.5) * std::exp2(i % 13));
  return out;
}

auto sizes() { return GENERATE(as<int64_t>(), 0, 1, 2, 31, 32, 33, 127, 128, 129, 255, 256, 257, 1000); }

template <class Group>
void check_group(const Group& group, int64_t n) {
  const auto x = values(n);
  std::vector<int> visits(static_cast<size_t>(n), 0);
  group.each(n, [&](int64_t i) { ++visits[i]; });
  CHECK(visits == std::vector<int>(static_cast<size_t>(n), 1));

  long double exact = 0, size = 0;
  double top = -7e9;
  for (const double v : x) {
    exact += v;
    size += std::fabs(v);
    if (v > top) top = v;
  }
  const double sum = group.sum(n, [&](int64_t i) { return x[i]; });
  CHECK(std::fabs(static_cast<double>(sum - exact)) <= 1000 * 0x1p-53 * static_cast<double>(size));
  CHECK(group.sum(n, [](int64_t) { return 1; }) == static_cast<double>(n));
  CHECK(group.max(n, -7e9, [&](int64_t i) { return x[i]; }) == top);
}

TEST_CASE("every group visits each index once, and sums and finds maxima", "[kernels][group]") {
  const int64_t n = sizes();
  const Order order = GENERATE(Order::forward, Order::backward);
  CAPTURE(n);
  check_group(SerialGroup{}, n);
  check_group(EmulatedGroup(32, order), n);
  check_group(EmulatedGroup(128, order), n);
}

TEST_CASE("groups accumulate sums of floats in double", "[kernels][group]") {
  // summed in float, 2^24 + 1 + ... + 1 would stay at 2^24, because 2^24 + 1 is rounded to 2^24
  const int64_t n = 1001;
  const auto entry = [](int64_t i) { return i == 0 ? 16777216.0F : 1.0F; };
  CHECK(SerialGroup{}.sum(n, entry) == 16778216.0);
  CHECK(EmulatedGroup(128).sum(n, entry) == 16778216.0);
}

TEST_CASE("groups handle infinities and NaN in sums and maxima", "[kernels][group]") {
  const double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const int64_t n = 129, place = GENERATE(as<int64_t>(), 0, 31, 128);
  const auto check = [&](const auto& group) {
    CHECK(group.sum(n, [&](int64_t i) { return i == place ? inf : 1.0; }) == inf);
    CHECK(std::isnan(group.sum(n, [&](int64_t i) { return i == place ? nan : 1.0; })));
    CHECK(group.max(n, -inf, [&](int64_t i) { return i == place ? inf : 1.0; }) == inf);
    CHECK(group.max(n, -inf, [&](int64_t) { return -inf; }) == -inf);
  };
  check(SerialGroup{});
  check(EmulatedGroup(32));
  check(EmulatedGroup(128));
}

TEST_CASE("a group's sum has the same bits for a warp, a block and both lane orders", "[kernels][group]") {
  const int64_t n = sizes();
  const auto x = values(n);
  const auto sum_of = [&](const auto& group) { return group.sum(n, [&](int64_t i) { return x[i]; }); };
  const double block = sum_of(EmulatedGroup(128));
  CHECK(sum_of(EmulatedGroup(32)) == block);
  CHECK(sum_of(EmulatedGroup(128, Order::backward)) == block);
}

/// A kernel with a data race on purpose: each lane copies its neighbour's entry in place, while another lane overwrites
/// that entry. The emulated group must reveal the race.
struct ShiftInPlace {
  double* x;
  int64_t n;
  template <class Group>
  void operator()(const Group& group) const {
    group.each(n - 1, [&](int64_t i) { x[i] = x[i + 1]; });
  }
};

/// Moves entries like ShiftInPlace, but without a data race: all lanes read in one operation and write in another.
struct ShiftThroughCopy {
  double* x;
  double* copy;
  int64_t n;
  template <class Group>
  void operator()(const Group& group) const {
    group.each(n, [&](int64_t i) { copy[i] = x[i]; });
    group.each(n - 1, [&](int64_t i) { x[i] = copy[i + 1]; });
  }
};

TEST_CASE("EmulatedGroup detects a read of an entry that another lane writes", "[kernels][group]") {
  const int64_t n = GENERATE(as<int64_t>(), 33, 128, 1000);
  const auto wrong = [&](Order order) {
    auto x = values(n);
    ShiftInPlace{x.data(), n}(EmulatedGroup(32, order));
    return x;
  };
  CHECK(wrong(Order::forward) != wrong(Order::backward));
  const auto right = [&](Order order) {
    auto x = values(n), copy = x;
    ShiftThroughCopy{x.data(), copy.data(), n}(EmulatedGroup(32, order));
    return x;
  };
  CHECK(right(Order::forward) == right(Order::backward));
}

TEST_CASE("EmulatedGroup throws if operations are nested", "[kernels][group]") {
  const EmulatedGroup group(32);
  CHECK_THROWS_AS(group.each(2, [&](int64_t) { group.each(1, [](int64_t) {}); }), std::logic_error);
  CHECK_THROWS_AS(group.sum(2, [&](int64_t) { return group.sum(1, [](int64_t) { return 1; }); }), std::logic_error);
  CHECK(group.sum(2, [](int64_t) { return 1; }) == 2);
}

}  // namespace
}  // namespace mr
