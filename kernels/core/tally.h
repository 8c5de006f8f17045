// Values that are accumulated on the device and read once per pass over the data: the sum of a loss, positions of NaNs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/core/atomic.h"
#include "kernels/core/view.h"

namespace mr {

/// Adds to a sum on the device: total += factor * value, in double.
template <class Real>
struct AddLoss {
  Span<const Real> value;
  double factor;
  double* total;
  MR_HD void operator()(int64_t) const { *total += factor * static_cast<double>(value[0]); }
};

/// Records the first entry i that is NaN as *found = most - i, unless an earlier one is recorded. 0 stands for no NaN.
template <class Real>
struct NoteNan {
  static constexpr int64_t most = int64_t{1} << 62;
  Span<const Real> values;
  int64_t* found;
  MR_HD void operator()(int64_t i) const {
    if (values[i] != values[i]) raise_to(found, most - i);
  }
};

/// Records the first entry i that is below 1 or above `last`: *found = NoteNan<T>::most - i. It is unchanged if there
/// is no such entry or an earlier one was recorded.
template <class T>
struct NoteOutside {
  Span<const T> values;
  T last;
  int64_t* found;
  MR_HD void operator()(int64_t i) const {
    if (values[i] < 1 || values[i] > last) raise_to(found, NoteNan<T>::most - i);
  }
};

/// Assigns each check for NaN, by its name, a 64-bit word on the device, which NoteNan writes.
class NanNotes {
 public:
  static constexpr int64_t most = 64;
  /// `words` points to `most` 64-bit words on the device, one per check. All must be 0 at the start.
  explicit NanNotes(int64_t* words) : words_(words) {}

  /// Returns the word of a check, or null if all words are taken by other checks.
  int64_t* word_of(const std::string& check) {
    const auto at = std::find(checks_.begin(), checks_.end(), check) - checks_.begin();
    if (at == most) return nullptr;
    if (at == static_cast<int64_t>(checks_.size())) checks_.push_back(check);
    return words_ + at;
  }
  const std::vector<std::string>& checks() const { return checks_; }

 private:
  int64_t* words_;
  std::vector<std::string> checks_;  // names of the checks for NaN, for example "smooth_ap: scores"
};

}  // namespace mr
