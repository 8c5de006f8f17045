// Checksums that detect damage, not forgery, at the speed of memory.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mr::io {

/// Returns the XXH64 of Yann Collet's xxHash: faster than zlib's crc32, with twice the bits.
uint64_t xxh64(std::string_view bytes, uint64_t seed = 0);

/// size of the blocks whose XXH64s the checksum of long data hashes, so that threads can hash blocks in parallel
constexpr int64_t checksum_block = int64_t{1} << 20;
uint64_t checksum(std::string_view bytes);
uint64_t checksum_of_blocks(const std::vector<uint64_t>& blocks);

}  // namespace mr::io
