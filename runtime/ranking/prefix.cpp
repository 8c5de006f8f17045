#include "runtime/ranking/prefix.h"

#include <algorithm>
#include <mutex>

#include "kernels/core/extended.h"
#include "kernels/ranking/discount.h"

namespace mr {
namespace {

/// Holds prefix sums of term(1), term(2), ..., added in extended precision, which avoids a loss of digits.
class Sums {
 public:
  explicit Sums(Extended (*term)(int64_t)) : term_(term) {}

  Tensor get(int64_t n, Device device) {
    const std::lock_guard lock(mutex_);
    Tensor& table = tables_[static_cast<int>(device)];
    if (!table.defined() || table.entries() <= n) table = Tensor::from(grown(std::max<int64_t>(2 * n, 4096)), device);
    return table;
  }

 private:
  std::vector<double> grown(int64_t n) const {
    std::vector<double> sums{0};
    Extended total = 0;
    for (int64_t r = 1; r <= n; ++r) {
      total += term_(r);
      sums.push_back(static_cast<double>(total));
    }
    return sums;
  }

  Extended (*term_)(int64_t);
  std::mutex mutex_;
  Tensor tables_[2];
};

}  // namespace

Tensor discount_sums(int64_t n, Device device) {
  static Sums sums([](int64_t r) { return static_cast<Extended>(discount(static_cast<double>(r))); });
  return sums.get(n, device);
}

Tensor letor_discount_sums(int64_t n, Device device) {
  static Sums sums(
      [](int64_t r) { return static_cast<Extended>(discount(static_cast<double>(std::max<int64_t>(r - 1, 1)))); });
  return sums.get(n, device);
}

Tensor harmonic_sums(int64_t n, Device device) {
  static Sums sums([](int64_t r) { return 1 / static_cast<Extended>(r); });
  return sums.get(n, device);
}

}  // namespace mr
