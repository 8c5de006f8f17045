#include "runtime/ops/ideal.h"

#include <algorithm>

namespace mr {

const Tensor& ideal_dcg(const Lists& lists, Device device, Gain gain, int64_t k) {
  const std::string key =
      "ideal " + std::to_string(k) + " " + std::to_string(static_cast<int>(gain)) + "@" + std::string(name_of(device));
  return lists.cached<Tensor>(key, [&] {
    std::vector<double> ideal;
    std::vector<float> grades;
    for (int64_t l = 0; l < lists.count(); ++l) {
      const auto first = lists.relevance().begin() + lists.offsets()[l];
      grades.assign(first, first + lists.sizes()[l]);
      std::sort(grades.begin(), grades.end(), std::greater<>());
      double total = 0;
      // a list of zeros has nothing to gain, also where the gain of grade 0 is 1
      const bool any = !grades.empty() && grades[0] > 0;
      for (int64_t rank = 0; any && rank < std::min(k, lists.sizes()[l]); ++rank) {
        total += gain_of(grades[rank], gain) * discount(static_cast<double>(rank) + 1);
      }
      ideal.push_back(total);
    }
    return Tensor::from(ideal, device);
  });
}

}  // namespace mr
