// A ring buffer of page-locked memory for uploads. The caller's bytes may change as soon as a copy is queued, while the
// copy to the GPU still waits for its turn. So a part of the ring is reused only when the copies that read it are done.
// The ring is divided into pieces, and each piece is waited for as a whole.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mr::cuda {

class StagingPlaces {
 public:
  static constexpr int pieces = 16;
  static constexpr int64_t piece_bytes = int64_t{256} << 10, all_bytes = pieces * piece_bytes;

  struct Place {
    /// offset of the reserved memory in the ring, and its length, which may be less than what was asked for
    int64_t at, bytes;
    int left;     ///< piece of the ring that became full, or -1; the caller records an event after its copies
    int entered;  ///< piece of the ring where this memory begins a new piece, or -1; the caller waits for its event
  };

  /// Returns a place in the ring for the next `bytes` > 0 of an upload, or for the first part of them.
  Place next(int64_t bytes) {
    Place place{0, 0, -1, -1};
    if (used_ >= piece_bytes) {
      place.left = piece_;
      piece_ = place.entered = (piece_ + 1) % pieces;
      used_ = 0;
    }
    place.at = piece_ * piece_bytes + used_;
    place.bytes = std::min(bytes, piece_bytes - used_);
    // Rounds up to the alignment, so that the next copy starts aligned.
    used_ += (place.bytes + alignment - 1) / alignment * alignment;
    return place;
  }

 private:
  static constexpr int64_t alignment = 64;

  int piece_ = 0;
  int64_t used_ = 0;
};

}  // namespace mr::cuda
