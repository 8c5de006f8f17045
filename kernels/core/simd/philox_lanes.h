// The random bits of core/rng.h over vectors of MR_VECTOR_BYTES, in namespace MR_SIMD, for files that are compiled once
// per instruction set. A lane stores 32-bit words in 64 bits, so that a multiplication keeps its high half.
#pragma once

#include <cstdint>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "kernels/core/rng.h"

namespace mr::cpu::MR_SIMD {
namespace {

typedef uint64_t Bits __attribute__((vector_size(MR_VECTOR_BYTES)));  // NOLINT: the attribute needs typedef
constexpr uint64_t low_half = 0xFFFFFFFFULL;

/// Returns the 64-bit products of the low 32 bits of the lanes.
inline Bits multiply(Bits a, Bits b) {
#if !defined(__x86_64__)
  return (a & low_half) * (b & low_half);
#elif MR_VECTOR_BYTES == 64
  return reinterpret_cast<Bits>(_mm512_mul_epu32(reinterpret_cast<__m512i>(a), reinterpret_cast<__m512i>(b)));
#elif MR_VECTOR_BYTES == 32
  return reinterpret_cast<Bits>(_mm256_mul_epu32(reinterpret_cast<__m256i>(a), reinterpret_cast<__m256i>(b)));
#else
  return reinterpret_cast<Bits>(_mm_mul_epu32(reinterpret_cast<__m128i>(a), reinterpret_cast<__m128i>(b)));
#endif
}

/// Computes philox(key, block, lane = step) of core/rng.h for one vector of blocks and steps. Only the low halves hold
/// the result; the high halves hold leftovers of products, which `multiply` ignores.
inline void draw(RandomKey key, Bits block, Bits step, Bits (&out)[4]) {
  const Bits m0 = 0xD2511F53ULL - Bits{}, m1 = 0xCD9E8D57ULL - Bits{};
  Bits c0 = block, c1 = block >> 32, c2 = step, c3 = step >> 32;
  auto k0 = static_cast<uint32_t>(key.value), k1 = static_cast<uint32_t>(key.value >> 32);
  for (int round = 0; round < 10; ++round) {
    const Bits p0 = multiply(m0, c0), p1 = multiply(m1, c2);
    c0 = (p1 >> 32) ^ (c1 ^ static_cast<uint64_t>(k0));
    c2 = (p0 >> 32) ^ (c3 ^ static_cast<uint64_t>(k1));
    c1 = p1;
    c3 = p0;
    k0 += 0x9E3779B9U;
    k1 += 0xBB67AE85U;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}
inline void draw(RandomKey key, Bits block, uint64_t step, Bits (&out)[4]) { draw(key, block, step - Bits{}, out); }

}  // namespace
}  // namespace mr::cpu::MR_SIMD
