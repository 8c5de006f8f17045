// The loop of gumbel.h over vectors of MR_VECTOR_BYTES, inside namespace MR_SIMD; included by gumbel_*.cpp only.
#include <cstring>
#include <initializer_list>

#include "kernels/core/logarithms.h"
#include "kernels/core/simd/lanes.h"
#include "kernels/core/simd/philox_lanes.h"
#include "kernels/losses/gumbel.h"

namespace mr::cpu::MR_SIMD {
namespace {

/// Converts random bits to numbers in (0, 1). Their upper 52 bits are used; `low` and `high` hold their low and high 32
/// bits.
inline Lanes<double>::Vector inside_of(Bits low, Bits high) {
  const Bits upper = (high & low_half) << 20 | (low & low_half) >> 12;
  constexpr double unit = 0x1p52;
  const auto whole = reinterpret_cast<Lanes<double>::Vector>(upper | 0x4330000000000000ULL) - unit;  // exact
  return (whole + 0.5) * (1 / unit);
}

void noise(RandomKey key, uint64_t row, uint64_t pair, int64_t n, double* first, double* second) {
  constexpr int64_t lanes = Lanes<double>::count;
  Bits number;
  for (int64_t l = 0; l < lanes; ++l) number[l] = row + static_cast<uint64_t>(l);
  for (int64_t i = 0; i < n; i += lanes, number += static_cast<uint64_t>(lanes)) {
    Bits words[4];
    draw(key, number, pair, words);
    const auto a = inside_of(words[0], words[1]), b = inside_of(words[2], words[3]);
    const auto bytes = static_cast<size_t>(smaller(lanes, n - i)) * sizeof *first;
    std::memcpy(first + i, &a, bytes);
    std::memcpy(second + i, &b, bytes);
  }
  for (double* const each : {first, second}) {
    for (int64_t i = 0; i < n; ++i) each[i] = -portable::log(-portable::log(each[i]));
  }
}

}  // namespace
}  // namespace mr::cpu::MR_SIMD

namespace mr::cpu {

template <>
GumbelLoops loops_of<GumbelLoops, Simd::MR_SIMD>() {
  return {.noise = &MR_SIMD::noise};
}

}  // namespace mr::cpu
