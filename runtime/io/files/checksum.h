// Checksums that detect damaged data. They are as fast as reading memory, but do not protect against forgery.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace mr::io {

/// Returns the hash XXH64 (xxHash by Yann Collet). It is faster than zlib's crc32 and has twice as many bits.
uint64_t xxh64(std::string_view bytes, uint64_t seed = 0);

/// Size of a block. The checksum of long data is a hash of the hashes of its blocks, so that threads can hash blocks in
/// parallel.
constexpr int64_t checksum_block = int64_t{1} << 20;
uint64_t checksum(std::string_view bytes);
uint64_t checksum_of_blocks(const std::vector<uint64_t>& blocks);

}  // namespace mr::io
