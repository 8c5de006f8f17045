#include "runtime/ranking/ideal.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace mr {

namespace {

struct IdealKey {
  Gain gain;
  int64_t k;
  auto operator<=>(const IdealKey&) const = default;
};
struct LargestKey {
  auto operator<=>(const LargestKey&) const = default;
};
struct DeviceKey {
  IdealKey ideal;
  Device device;
  auto operator<=>(const DeviceKey&) const = default;
};

double ideal_of(std::vector<float>& grades, const IdealKey& key) {
  // Sorts only grades above 0, because a whole catalogue has few of them.
  const auto zeros = std::partition(grades.begin(), grades.end(), [](float grade) { return grade > 0; });
  std::sort(grades.begin(), zeros, std::greater<>());
  // A list whose grades are all 0 has ideal DCG 0, even if the gain of grade 0 is 1.
  if (zeros == grades.begin()) return 0;
  const auto n = gain_of(0.0F, key.gain) == 0 ? zeros - grades.begin() : static_cast<int64_t>(grades.size());
  double total = 0;
  for (int64_t rank = 0; rank < std::min<int64_t>(key.k, n); ++rank)
    total += gain_of(grades[rank], key.gain) * discount(static_cast<double>(rank) + 1);
  return total;
}

std::string shown(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

/// Returns the gain as a formula, "2^1024 - 1", for gains that overflow.
std::string gain_text(double grade, Gain gain) {
  if (gain == Gain::linear) return shown(grade);
  return "2^" + shown(gain == Gain::exp2_plus_one ? grade + 1 : grade) + " - 1";
}

[[noreturn]] void refuse(const Lists& lists, size_t list, float grade, Gain gain, double largest) {
  const float* const grades = lists.relevance().data() + lists.offsets()[list];
  const auto row = std::find(grades, grades + lists.sizes()[list], grade) - grades + 1;
  const std::string id = lists.ids().empty() ? "" : " ('" + lists.ids()[list] + "')";
  throw std::invalid_argument(
      "list " + std::to_string(list + 1) + id + ", row " + std::to_string(row) + ": grade " + shown(grade) +
      " has the gain " + gain_text(grade, gain) + ", expected at most 2^" + std::to_string(std::ilogb(largest)) +
      (largest == largest_gain ? ". Pass smaller grades, a metric of binary relevance, or ndcg with gain = 'linear'"
                               : " for float32 scores. Pass smaller grades or float64 scores"));
}

}  // namespace

void check_gains(const Lists& lists, Gain gain, double largest) {
  const std::vector<float> most = lists.per_list<float>(LargestKey{}, [](const float* grades, int64_t n) {
    return n == 0 ? 0.0F : *std::max_element(grades, grades + n);
  });
  for (size_t l = 0; l < most.size(); ++l) {
    if (!(gain_of(most[l], gain) <= largest)) refuse(lists, l, most[l], gain, largest);
  }
}

const Tensor& ideal_dcg(const Lists& lists, Device device, Gain gain, int64_t k) {
  const IdealKey key{gain, k};
  check_gains(lists, gain);
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
