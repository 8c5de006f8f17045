// Limits how much data is unpacked from a compressed file, so that a small file cannot fill the memory.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace mr::io {

/// The limit of unpacked bytes is the smaller of `max_bytes` and a hundred times the packed bytes; the latter counts as
/// at least 64 MiB, which every machine can hold. Gzip shrinks files of features to a tenth or a thirtieth, but a zip
/// bomb to a thousandth.
class UnpackLimit {
 public:
  UnpackLimit(int64_t packed_bytes, int64_t max_bytes)
      : packed_(packed_bytes), max_bytes_(max_bytes), by_ratio_(std::max(harmless, most_ratio * packed_bytes)) {}

  int64_t bytes() const { return std::min(max_bytes_, by_ratio_); }
  /// Returns the text of the error for a file that unpacks to more than the limit.
  std::string text() const {
    if (max_bytes_ <= by_ratio_) return "unpacks to more than the limit of " + std::to_string(max_bytes_) + " bytes";
    return "unpacks to more than " + std::to_string(by_ratio_) + " bytes, the limit for " + std::to_string(packed_) +
           " packed bytes (" + std::to_string(most_ratio) + " times as many)";
  }

 private:
  static constexpr int64_t harmless = int64_t{64} << 20, most_ratio = 100;
  int64_t packed_, max_bytes_, by_ratio_;
};

}  // namespace mr::io
