#include "runtime/io/files/checksum.h"

#include <string>

#include <catch2/catch.hpp>

#include "kernels/core/threads.h"

using mr::io::checksum;
using mr::io::xxh64;

TEST_CASE("xxh64 gives the values of its reference test vectors") {
  CHECK(xxh64("") == 0xEF46DB3751D8E999);
  CHECK(xxh64("a") == 0xD24EC4F1A98C6E5B);
  CHECK(xxh64("abc") == 0x44BC2CF5AD770999);
  CHECK(xxh64("xxhash", 20141025) == 0xB559B98D844E0635);
  CHECK(xxh64("Call me Ishmael. Some years ago--never mind how long precisely-") == 0x02A2E85470D6FD96);
}

TEST_CASE("checksum depends on every bit and the length but not on the number of threads") {
  std::string bytes(3 * mr::io::checksum_block + 5, 'x');
  const uint64_t before = checksum(bytes);
  const int threads = mr::cpu::threads();
  mr::cpu::set_threads(3);
  CHECK(checksum(bytes) == before);
  mr::cpu::set_threads(threads);
  for (const size_t at : {size_t{0}, size_t{1000}, bytes.size() / 2, bytes.size() - 1}) {
    bytes[at] ^= 4;
    CHECK(checksum(bytes) != before);
    bytes[at] ^= 4;
  }
  CHECK(checksum(bytes) == before);
  bytes.pop_back();
  CHECK(checksum(bytes) != before);
}
