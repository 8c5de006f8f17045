#include "runtime/io/files/checksum.h"

#include <xxhash.h>

#include "kernels/core/threads.h"

namespace mr::io {
uint64_t xxh64(std::string_view bytes, uint64_t seed) { return XXH64(bytes.data(), bytes.size(), seed); }

uint64_t checksum_of_blocks(const std::vector<uint64_t>& blocks) {
  return xxh64({reinterpret_cast<const char*>(blocks.data()), blocks.size() * sizeof(uint64_t)});
}

uint64_t checksum(std::string_view bytes) {
  constexpr auto length = static_cast<size_t>(checksum_block);
  std::vector<uint64_t> blocks((bytes.size() + length - 1) / length);
  cpu::parallel_each(static_cast<int64_t>(blocks.size()), 1,
                     [&](size_t i) { blocks[i] = xxh64(bytes.substr(i * length, length)); });
  return checksum_of_blocks(blocks);
}

}  // namespace mr::io
