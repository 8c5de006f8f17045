#include "runtime/ranking/ideal.h"

#include <algorithm>

namespace mr {

namespace {

struct IdealKey {
  Gain gain;
  int64_t k;
  auto operator<=>(const IdealKey&) const = default;
};
struct DeviceKey {
  IdealKey ideal;
  Device device;
  auto operator<=>(const DeviceKey&) const = default;
};

double ideal_of(std::vector<float>& grades, const IdealKey& key) {
  // only the few of a whole catalogue that are above 0 are sorted
  const auto zeros = std::partition(grades.begin(), grades.end(), [](float grade) { return grade > 0; });
  std::sort(grades.begin(), zeros, std::greater<>());
  // a list of zeros has nothing to gain, also where the gain of grade 0 is 1
  if (zeros == grades.begin()) return 0;
  const auto n = gain_of(0.0F, key.gain) == 0 ? zeros - grades.begin() : static_cast<int64_t>(grades.size());
  double total = 0;
  for (int64_t rank = 0; rank < std::min<int64_t>(key.k, n); ++rank)
    total += gain_of(grades[rank], key.gain) * discount(static_cast<double>(rank) + 1);
  return total;
}

}  // namespace

const Tensor& ideal_dcg(const Lists& lists, Device device, Gain gain, int64_t k) {
  const IdealKey key{gain, k};
  return lists.cached<Tensor>(DeviceKey{key, device}, [&] {
    std::vector<float> sorted;
    const auto ideal = [&](const float* grades, int64_t n) {
      sorted.assign(grades, grades + n);
      return ideal_of(sorted, key);
    };
    return Tensor::from(lists.per_list<double>(key, ideal), device);
  });
}

}  // namespace mr
