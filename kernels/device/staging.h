// Places in page-locked memory that uploads pass through. The caller's bytes may change as soon as a copy is queued,
// and the copy to the GPU still waits for its turn: a place is used again when the copies that read it are done.
// Uploads stand one behind the other in pieces of the memory, of which each is waited for as a whole.
#pragma once

#include <algorithm>
#include <cstdint>

namespace mr::cuda {

class StagingPlaces {
 public:
  static constexpr int pieces = 16;
  static constexpr int64_t piece_bytes = int64_t{256} << 10, all_bytes = pieces * piece_bytes;

  struct Place {
    int64_t at, bytes;  ///< from the beginning of the memory; as many of the bytes as there is room for
    int left;           ///< the piece that is full now, or -1: what is queued after its copies tells when it is free
    int entered;        ///< the piece that is begun, or -1: it must be free
  };

  /// For the next `bytes` > 0, or the first of them.
  Place next(int64_t bytes) {
    Place place{0, 0, -1, -1};
    if (used_ >= piece_bytes) {
      place.left = piece_;
      piece_ = place.entered = (piece_ + 1) % pieces;
      used_ = 0;
    }
    place.at = piece_ * piece_bytes + used_;
    place.bytes = std::min(bytes, piece_bytes - used_);
    // copies begin where words do
    used_ += (place.bytes + alignment - 1) / alignment * alignment;
    return place;
  }

 private:
  static constexpr int64_t alignment = 64;

  int piece_ = 0;
  int64_t used_ = 0;
};

}  // namespace mr::cuda
