#include "runtime/autograd/number_groups.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <vector>

#include "kernels/device/gpu.h"
#include "kernels/device/group_numbers.h"

namespace mr {
namespace {

/// Returns how many bits the digits have by which `count` numbers up to `largest` are sorted: equally many in each
/// digit, and with at most about as many different digits as there are numbers.
int bits_of_digits(int64_t largest, size_t count) {
  constexpr int most = 11;
  const int all = std::bit_width(static_cast<uint64_t>(largest)), limit = std::min<int>(most, std::bit_width(count));
  const int passes = std::max(1, (all + limit - 1) / limit);
  return std::max(1, (all + passes - 1) / passes);
}

/// Returns the positions in `numbers`, sorted by number. Equal numbers keep their order. Long vectors are sorted digit
/// by digit, which takes time proportional to their length.
std::vector<int64_t> sorted_positions(const std::vector<int64_t>& numbers) {
  constexpr int64_t worth_counting = 256;
  std::vector<int64_t> order(numbers.size());
  std::iota(order.begin(), order.end(), 0);
  if (std::is_sorted(numbers.begin(), numbers.end())) return order;
  if (static_cast<int64_t>(numbers.size()) < worth_counting) {
    std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return numbers[a] < numbers[b]; });
    return order;
  }
  const int64_t largest = *std::max_element(numbers.begin(), numbers.end());
  const int bits = bits_of_digits(largest, numbers.size());
  const int64_t digits = int64_t{1} << bits;
  std::vector<int64_t> next(numbers.size()), ends(static_cast<size_t>(digits));
  for (int shift = 0; shift < 63 && largest >> shift > 0; shift += bits) {
    std::fill(ends.begin(), ends.end(), 0);
    for (const int64_t number : numbers) ++ends[number >> shift & (digits - 1)];
    std::partial_sum(ends.begin(), ends.end(), ends.begin());
    for (auto at = order.rbegin(); at != order.rend(); ++at) next[--ends[numbers[*at] >> shift & (digits - 1)]] = *at;
    order.swap(next);
  }
  return order;
}

NumberGroups grouped_here(const Tensor& tensor) {
  const auto numbers = tensor.to_vector<int64_t>();
  const auto n = static_cast<int64_t>(numbers.size());
  const std::vector<int64_t> order = sorted_positions(numbers);
  std::vector<int64_t> found, starts;
  found.reserve(numbers.size());
  starts.reserve(numbers.size() + 1);
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || numbers[order[i]] != numbers[order[i - 1]]) {
      found.push_back(numbers[order[i]]);
      starts.push_back(i);
    }
  }
  starts.push_back(n);
  const Device device = tensor.device();
  return {Tensor::from(found, device), Tensor::from(starts, device), Tensor::from(order, device)};
}

/// Groups equal numbers on the GPU. The host waits until it knows how many groups there are.
NumberGroups grouped_there(const Tensor& numbers, int64_t most) {
  const auto index = [](int64_t n) { return Tensor::empty({n}, Dtype::int64, Device::cuda); };
  const auto data = [](const Tensor& x) { return x.span<int64_t>().data; };
  const int64_t n = numbers.entries(), groups = std::min(n, most);
  const Tensor order = index(n), starts = index(groups + 1), each = index(groups), found = index(1);
  cuda::group_numbers(n, numbers.span<const int64_t>().data, most,
                      {.order = data(order), .starts = data(starts), .numbers = data(each), .found = data(found)});
  const int64_t count = found.to_vector<int64_t>()[0];
  return {each.slice(0, count), starts.slice(0, count + 1), order};
}

/// Returns true if equal numbers of a GPU tensor should be grouped on the host, which must have a copy of them. The
/// host is as fast if they are few. It must do so while GPU work is recorded, when nothing may wait for the GPU.
bool prefers_host(const Tensor& numbers) {
  constexpr int64_t few = 32768;  // estimated: below, the time of the GPU's sort does not depend on the count
  return numbers.host_bytes() != nullptr && (numbers.entries() < few || cuda::gpu().is_recording());
}

}  // namespace

NumberGroups group_numbers(const Tensor& numbers, int64_t most) {
  const bool here = numbers.device() == Device::cpu || prefers_host(numbers);
  return here ? grouped_here(numbers) : grouped_there(numbers, most);
}

}  // namespace mr
