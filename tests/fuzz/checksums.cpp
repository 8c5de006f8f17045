#include "tests/fuzz/checksums.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <string_view>
#include <vector>

#include <zlib.h>

#include "runtime/data/letor/letor_cache_file.h"
#include "runtime/io/files/checksum.h"

namespace mr::fuzz {
namespace {

/// Removes the next `bytes` bytes from the front of `rest`, or all of it if it is shorter, and returns them.
std::string_view taken(std::string_view& rest, uint64_t bytes) {
  const std::string_view part = rest.substr(0, std::min<uint64_t>(bytes, rest.size()));
  rest.remove_prefix(part.size());
  return part;
}

uint32_t number_at(const std::string& bytes, size_t at) {
  uint32_t number = 0;
  for (size_t i = 0; i < 4; ++i) number = number << 8 | static_cast<unsigned char>(bytes[at + i]);
  return number;
}

void put_number(std::string& bytes, size_t at, uint32_t number) {
  for (size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<char>(number >> (24 - 8 * i) & 0xFF);
}

}  // namespace

std::string with_cache_checksums(std::string bytes) {
  LetorCacheHeader h{};
  if (bytes.size() < sizeof h) return bytes;
  std::memcpy(&h, bytes.data(), sizeof h);
  std::string_view rest = std::string_view(bytes).substr(sizeof h);
  const auto rows = static_cast<uint64_t>(h.rows), queries = static_cast<uint64_t>(h.queries);
  std::vector<uint64_t> sums{io::xxh64(taken(rest, static_cast<uint64_t>(h.key_bytes)))};
  for (const uint64_t part :
       {rows * static_cast<uint64_t>(h.width) * sizeof(float), rows * sizeof(float), queries * sizeof(int64_t),
        (queries + static_cast<uint64_t>(h.documents)) * sizeof(uint32_t), static_cast<uint64_t>(h.text_bytes)})
    sums.push_back(io::checksum(taken(rest, part)));
  h.payload_checksum = io::checksum_of_blocks(sums);
  h.header_checksum = io::xxh64({reinterpret_cast<const char*>(&h), offsetof(LetorCacheHeader, header_checksum)});
  std::memcpy(bytes.data(), &h, sizeof h);
  return bytes;
}

std::string with_sample_checksums(std::string bytes) {
  // byte offsets in the header that runtime/bounds/samples/sample_file.cpp writes: number of distinct values, checksum
  // of the payload, checksum of the header
  constexpr size_t header = 128, distinct_at = 80, payload_at = 112, header_at = 120;
  if (bytes.size() < header) return bytes;
  uint64_t distinct = 0;
  std::memcpy(&distinct, bytes.data() + distinct_at, sizeof distinct);
  std::string_view rest = std::string_view(bytes).substr(header);
  const std::string_view values = taken(rest, distinct > rest.size() ? rest.size() : distinct * sizeof(double));
  const uint64_t payload = io::xxh64(rest, io::xxh64(values));
  std::memcpy(bytes.data() + payload_at, &payload, sizeof payload);
  const uint64_t of_header = io::xxh64(std::string_view(bytes).substr(0, header_at));
  std::memcpy(bytes.data() + header_at, &of_header, sizeof of_header);
  return bytes;
}

std::string with_log_checksums(std::string bytes) {
  // SQLite's write-ahead log: its header has the page size, two salts and two checksum words. Each page has a header of
  // its own in front, with copies of the salts and with checksum words.
  constexpr size_t header = 32, before_page = 24, page_at = 8, salts_at = 16, salts = 8, sums_at = 24, word = 4;
  if (bytes.size() < header) return bytes;
  const bool big = (bytes[3] & 1) != 0;  // true if the checksums read 32-bit words as big-endian
  uint32_t s0 = 0, s1 = 0;
  const auto add = [&](size_t at, size_t count) {
    for (size_t end = at + count; at < end; at += 2 * word) {
      const uint32_t a = number_at(bytes, at), b = number_at(bytes, at + word);
      s0 += (big ? a : __builtin_bswap32(a)) + s1;
      s1 += (big ? b : __builtin_bswap32(b)) + s0;
    }
  };
  const auto put = [&](size_t at) {
    put_number(bytes, at, s0);
    put_number(bytes, at + word, s1);
  };
  add(0, sums_at);
  put(sums_at);
  const size_t page = number_at(bytes, page_at);
  constexpr size_t smallest = 512, largest = 65536;
  if (page < smallest || page > largest || page % smallest != 0) return bytes;
  for (size_t at = header; at + before_page + page <= bytes.size(); at += before_page + page) {
    bytes.replace(at + page_at, salts, bytes.substr(salts_at, salts));
    add(at, page_at);
    add(at + before_page, page);
    put(at + salts_at);
  }
  return bytes;
}

std::string with_png_checksums(std::string bytes) {
  constexpr size_t signature = 8, around = 12;  // bytes of a PNG chunk besides its content: length, type and checksum
  for (size_t at = signature; at + around <= bytes.size();) {
    const size_t length = number_at(bytes, at);
    if (length > bytes.size() - at - around) break;
    const auto* const summed = reinterpret_cast<const Bytef*>(bytes.data() + at + 4);
    const auto sum = static_cast<uint32_t>(crc32(0, summed, static_cast<uInt>(length + 4)));
    at += around + length;
    put_number(bytes, at - 4, sum);
  }
  return bytes;
}

}  // namespace mr::fuzz
