// Compares sorting and prefix sums (scans) on the real or emulated GPU with the standard library.
#include "kernels/device/sort.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "kernels/core/rng.h"
#include "tests/support/devices.h"
#include "tests/support/on_device.h"

namespace mr {
namespace {

TEST_CASE("sort_pairs sorts by the lowest bits of the keys and keeps the order of equal keys", "[kernels][gpu][sort]") {
  if (!test::has(Device::cuda)) return;
  const auto n = GENERATE(as<int64_t>(), 0, 1, 2, 31, 32, 33, 127, 128, 129, 1000, 70000);
  const auto bits = GENERATE(1, 5, 33, 64);
  const uint64_t read = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  std::vector<int64_t> keys, values(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) {
    // few of the bits are used, so that many keys are equal
    const uint64_t some = philox(random_key(3, "sort"), static_cast<uint64_t>(i)).low();
    keys.push_back(static_cast<int64_t>(some & 0xC00000030000000FULL));
  }
  std::iota(values.begin(), values.end(), 0);
  std::vector<int64_t> expected = values;
  std::stable_sort(expected.begin(), expected.end(), [&](int64_t a, int64_t b) {
    return (static_cast<uint64_t>(keys[a]) & read) < (static_cast<uint64_t>(keys[b]) & read);
  });
  const test::OnDevice<int64_t> keys_there(keys), values_there(values);
  cuda::sort_pairs(n, reinterpret_cast<uint64_t*>(keys_there.data()), values_there.data(), bits);
  CHECK((values_there.values() == expected));
  const std::vector<int64_t> sorted = keys_there.values();
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; ++i) wrong += sorted[i] != keys[expected[i]] ? 1 : 0;
  CHECK(wrong == 0);
}

TEST_CASE("exclusive_scan sums all previous values, also in place", "[kernels][gpu][sort]") {
  if (!test::has(Device::cuda)) return;
  const auto n = GENERATE(as<int64_t>(), 0, 1, 2, 31, 32, 33, 127, 128, 129, 1000, 70000);
  const bool in_place = GENERATE(false, true);
  std::vector<int64_t> values;
  for (int64_t i = 0; i < n; ++i) values.push_back((i * 37) % 11 - 3);
  std::vector<int64_t> expected(values.size());
  int64_t total = 0;
  for (int64_t i = 0; i < n; total += values[i++]) expected[i] = total;
  const test::OnDevice<int64_t> there(values), other(n);
  const test::OnDevice<int64_t>& out = in_place ? there : other;
  cuda::exclusive_scan(n, there.data(), out.data());
  CHECK((out.values() == expected));
}

}  // namespace
}  // namespace mr
