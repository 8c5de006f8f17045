// Counter-based random numbers (Philox 4x32-10; Salmon et al., SC 2011). A value depends on (seed, stream, index) only,
// so it is the same on every device and for every number of threads. No library function is used whose last digit may
// differ between processors. Compile with floating-point contraction off.
#pragma once

#include <cstdint>

#include "kernels/core/hd.h"

namespace mr {

/// Names one sequence of random numbers: the script's seed and a text for the purpose of the numbers.
struct RandomKey {
  uint64_t value = 0;
};

/// Returns the FNV-1a hash of seed and name, mixed by splitmix64, so that similar seeds and names give unrelated keys.
inline RandomKey random_key(uint64_t seed, const char* stream) {
  uint64_t hash = 14695981039346656037ULL;
  for (const char* c = stream; *c != '\0'; ++c) hash = (hash ^ static_cast<unsigned char>(*c)) * 1099511628211ULL;
  uint64_t z = hash ^ (seed * 0x9E3779B97F4A7C15ULL + 0x9E3779B97F4A7C15ULL);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
  return {z ^ (z >> 31)};
}

struct Random128 {
  uint32_t word[4];

  MR_HD uint64_t low() const { return (static_cast<uint64_t>(word[1]) << 32) | word[0]; }
  MR_HD uint64_t high() const { return (static_cast<uint64_t>(word[3]) << 32) | word[2]; }
};

/// Returns the 128 random bits at position (block, lane) of a sequence.
MR_HD inline Random128 philox(RandomKey key, uint64_t block, uint64_t lane = 0) {
  Random128 c{{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), static_cast<uint32_t>(lane),
               static_cast<uint32_t>(lane >> 32)}};
  uint32_t k0 = static_cast<uint32_t>(key.value);
  uint32_t k1 = static_cast<uint32_t>(key.value >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = 0xD2511F53ULL * c.word[0];
    const uint64_t p1 = 0xCD9E8D57ULL * c.word[2];
    c = {{static_cast<uint32_t>(p1 >> 32) ^ c.word[1] ^ k0, static_cast<uint32_t>(p1),
          static_cast<uint32_t>(p0 >> 32) ^ c.word[3] ^ k1, static_cast<uint32_t>(p0)}};
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  return c;
}

/// Returns the random number at position `index` of a sequence: uniform in [0, 1), with 53 bits.
MR_HD inline double uniform(RandomKey key, uint64_t index) {
  return static_cast<double>(philox(key, index).low() >> 11) * 0x1p-53;
}

/// Returns a uniform integer in [0, n), n <= 2^32, from 64 random bits. The bias is below n / 2^64.
MR_HD inline uint64_t bounded(uint64_t bits, uint64_t n) {
  const uint64_t high = (bits >> 32) * n;
  const uint64_t low = ((bits & 0xFFFFFFFFULL) * n) >> 32;
  return (high + low) >> 32;
}

}  // namespace mr
