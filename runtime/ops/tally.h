// Values that are accumulated over an epoch (or another pass over the data) and read with one wait at its end: the sum
// of a loss and, on the GPU, the NaNs that checks find while the tally is open. Waiting in each check would take longer
// than the operation itself.
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

  /// Resets the sum. Until `close`, NaN checks report to this tally.
  void open();
  void add(const Tensor& value, double factor);
  /// Returns the sum. Throws with the operation's name if a check found a NaN since `open`. Later checks for NaN wait
  /// for the GPU, as before `open`.
  double close();
  /// Returns the sum so far. Returns nothing on the GPU, which would have to be waited for.
  std::optional<double> so_far() const;

  /// If a tally is open and x is on the GPU, starts a check that notes a NaN of x in the tally, and returns true.
  /// Otherwise returns false, and the caller checks x itself.
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
