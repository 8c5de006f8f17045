#include "runtime/ranking/ideal.h"

#include <algorithm>

namespace mr {

const Tensor& ideal_dcg(const Lists& lists, Device device, Gain gain, int64_t k) {
  const std::string key = "ideal " + std::to_string(k) + " " + std::to_string(static_cast<int>(gain));
  return lists.cached<Tensor>(key + "@" + std::string(name_of(device)), [&] {
    std::vector<float> sorted;
    return Tensor::from(lists.per_list<double>(key,
                                               [&](const float* grades, int64_t n) {
                                                 sorted.assign(grades, grades + n);
                                                 std::sort(sorted.begin(), sorted.end(), std::greater<>());
                                                 double total = 0;
                                                 // a list of zeros has nothing to gain, also where the gain of grade 0
                                                 // is 1
                                                 const bool any = n > 0 && sorted[0] > 0;
                                                 for (int64_t rank = 0; any && rank < std::min(k, n); ++rank) {
                                                   total += gain_of(sorted[rank], gain) *
                                                            discount(static_cast<double>(rank) + 1);
                                                 }
                                                 return total;
                                               }),
                        device);
  });
}

}  // namespace mr
