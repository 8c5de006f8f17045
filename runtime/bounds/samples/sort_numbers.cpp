#include "runtime/bounds/samples/sort_numbers.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

namespace mr {
namespace {

/// Fewer numbers than this are sorted by std::sort, which is as fast for them.
constexpr size_t least = 256;
/// average number of values per bucket of the sort
constexpr size_t expected = 4;

}  // namespace

void sort_numbers(std::vector<double>& numbers) {
  if (numbers.size() < least) return std::sort(numbers.begin(), numbers.end());
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  const double first = *low, range = *high - first;
  if (range == 0) return;
  const size_t buckets = numbers.size() / expected;
  const double per_unit = static_cast<double>(buckets - 1) / range;
  // Numbers cannot be put into buckets if their range overflows, or if buckets per unit of the range overflow.
  if (!std::isfinite(range) || !std::isfinite(per_unit)) return std::sort(numbers.begin(), numbers.end());
  const auto bucket_of = [&](double x) { return static_cast<uint32_t>((x - first) * per_unit); };
  std::vector<uint32_t> ends(buckets + 1, 0);
  for (const double x : numbers) ++ends[bucket_of(x)];
  uint32_t start = 0;
  for (uint32_t& end : ends) start += std::exchange(end, start);
  std::vector<double> sorted(numbers.size());
  for (const double x : numbers) sorted[ends[bucket_of(x)]++] = x;
  uint32_t begin = 0;
  for (const uint32_t end : ends) {
    std::sort(sorted.begin() + begin, sorted.begin() + end);
    begin = end;
  }
  numbers = std::move(sorted);
}

}  // namespace mr
