#include "runtime/io/checksum.h"

#include <bit>
#include <cstring>

#include "kernels/core/threads.h"

namespace mr::io {
namespace {

constexpr uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
                   prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;

/// Little-endian, as the definition has it; the files that carry these checksums are so too.
template <class Word>
uint64_t word_at(const char* at) {
  Word word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

uint64_t round(uint64_t lane, uint64_t word) { return std::rotl(lane + word * prime2, 31) * prime1; }
uint64_t merged(uint64_t hash, uint64_t lane) { return (hash ^ round(0, lane)) * prime1 + prime4; }

uint64_t of_stripes(const char*& at, const char* end, uint64_t seed) {
  uint64_t a = seed + prime1 + prime2, b = seed + prime2, c = seed, d = seed - prime1;
  for (; end - at >= 32; at += 32) {
    a = round(a, word_at<uint64_t>(at));
    b = round(b, word_at<uint64_t>(at + 8));
    c = round(c, word_at<uint64_t>(at + 16));
    d = round(d, word_at<uint64_t>(at + 24));
  }
  uint64_t hash = std::rotl(a, 1) + std::rotl(b, 7) + std::rotl(c, 12) + std::rotl(d, 18);
  for (const uint64_t lane : {a, b, c, d}) hash = merged(hash, lane);
  return hash;
}

}  // namespace

uint64_t xxh64(std::string_view bytes, uint64_t seed) {
  const char *at = bytes.data(), *const end = at + bytes.size();
  uint64_t hash = (bytes.size() >= 32 ? of_stripes(at, end, seed) : seed + prime5) + bytes.size();
  for (; end - at >= 8; at += 8) hash = std::rotl(hash ^ round(0, word_at<uint64_t>(at)), 27) * prime1 + prime4;
  if (end - at >= 4) {
    hash = std::rotl(hash ^ word_at<uint32_t>(at) * prime1, 23) * prime2 + prime3;
    at += 4;
  }
  for (; at != end; ++at) hash = std::rotl(hash ^ word_at<uint8_t>(at) * prime5, 11) * prime1;
  hash = (hash ^ hash >> 33) * prime2;
  hash = (hash ^ hash >> 29) * prime3;
  return hash ^ hash >> 32;
}

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
