// Records of one pass over the data, read with one wait at its end: the sum of a loss; and, on the GPU, what checks of
// numbers find while the tally is open, because waiting for a check would take longer than the operation itself.
#pragma once

#include <memory>
#include <optional>

#include "kernels/core/tally.h"
#include "runtime/tensor/device_array.h"
#include "runtime/tensor/tensor.h"

namespace mr {

class Tally {
 public:
  explicit Tally(Device device);
  ~Tally();
  Tally(const Tally&) = delete;
  Tally& operator=(const Tally&) = delete;

  /// Sets all to zero; checks report here from then on.
  void open();
  void add(const Tensor& value, double factor);
  /// The sum; throws, with the operation, if a check found NaN. Checks wait again from here on.
  double close();
  /// The sum so far; on the GPU nothing, since it would have to wait.
  std::optional<double> so_far() const;

  /// True if a tally is open and records NaN.
  static bool note_nan(const char* operation, const char* name, const Tensor& x);

 private:
  struct Words {
    double sum;
    int64_t found[NanNotes::most];
  };

  DeviceArray<Words> words_;  // one
  NanNotes notes_;
};

}  // namespace mr
