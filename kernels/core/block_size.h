// Size classes of memory blocks on every device: a freed block can be reused for a request of the same class.
#pragma once

#include <bit>
#include <cstdint>

namespace mr {

/// Rounds up a number of bytes to an allocation size: up to 256 a multiple of 64, above a power of two or one of three
/// sizes between two powers.
inline int64_t block_size(int64_t bytes) {
  // such sizes are returned unchanged: rounding up would overflow, and no machine has so much memory
  if (bytes > int64_t{1} << 62) return bytes;
  if (bytes <= 256) return (bytes + 63) / 64 * 64;
  const auto step = static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes - 1)) / 4);
  return (bytes + step - 1) / step * step;
}

}  // namespace mr
