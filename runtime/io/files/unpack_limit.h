// Limits the size of the data that is unpacked from a compressed file.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

namespace mr::io {

/// Allows at most `max_bytes` and, above a size that every machine can hold, at most a hundred times the packed bytes.
/// Gzip shrinks feature files to a tenth or a thirtieth, but a zip bomb to a thousandth.
class UnpackLimit {
 public:
  UnpackLimit(int64_t packed_bytes, int64_t max_bytes)
      : packed_(packed_bytes), max_bytes_(max_bytes), by_ratio_(std::max(harmless, most_ratio * packed_bytes)) {}

  int64_t bytes() const { return std::min(max_bytes_, by_ratio_); }
  /// Returns the error message for a file that exceeds the limit.
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
