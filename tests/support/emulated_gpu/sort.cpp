// Implements the functions of kernels/device/sort.h on the emulated GPU.
#include "kernels/device/sort.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "tests/support/emulated_gpu/driver.h"

namespace mr::cuda {

void sort_pairs(int64_t count, uint64_t* keys, int64_t* values, int bits) {
  const uint64_t read = bits >= 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  test::driver_of(gpu()).queue([=] {
    std::vector<std::pair<uint64_t, int64_t>> pairs;
    for (int64_t i = 0; i < count; ++i) pairs.emplace_back(keys[i], values[i]);
    std::stable_sort(pairs.begin(), pairs.end(),
                     [&](const auto& a, const auto& b) { return (a.first & read) < (b.first & read); });
    for (int64_t i = 0; i < count; ++i) std::tie(keys[i], values[i]) = pairs[i];
  });
}

void exclusive_scan(int64_t count, const int64_t* values, int64_t* out) {
  test::driver_of(gpu()).queue(
      [=] { std::exclusive_scan(values, values + std::max<int64_t>(count, 0), out, int64_t{0}); });
}

}  // namespace mr::cuda
