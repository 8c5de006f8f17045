// Random orders.
#include <algorithm>
#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "kernels/core/rng.h"
#include "kernels/core/threads.h"
#include "kernels/models/negatives.h"
#include "runtime/lua/bind.h"
#include "runtime/ops/argument_checks.h"

namespace mr {
namespace {

/// Draws places[k], uniform in 0 .. begin + k, for `first` <= k < last. The random bits are computed several at a time.
void write_places(RandomKey key, int64_t lane, int64_t begin, int64_t first, int64_t last, int64_t* places) {
  constexpr int64_t together = 8 * cpu::random_block;
  std::array<uint64_t, together> blocks, lanes;
  std::array<Random128, together> bits;
  lanes.fill(static_cast<uint64_t>(lane));
  for (int64_t from = first; from < last; from += together) {
    std::iota(blocks.begin(), blocks.end(), static_cast<uint64_t>(begin + from));
    cpu::chosen_loops<cpu::NegativeLoops>().random(key, blocks.data(), lanes.data(), together, bits.data());
    for (int64_t i = 0; i < std::min(together, last - from); ++i)
      places[from + i] = static_cast<int64_t>(bounded(bits[i].low(), blocks[i] + 1));
  }
}

Tensor permutation(int64_t n, int64_t seed, const std::string& stream, int64_t lane) {
  if (n < 0) throw ArgumentError("n", std::to_string(n) + ", expected 0 or more");
  const Tensor numbers = Tensor::empty({n}, Dtype::int64);
  int64_t* const order = numbers.span<int64_t>().data;
  std::iota(order, order + n, 1);
  const RandomKey key = random_key(static_cast<uint64_t>(seed), stream.c_str());
  // Shuffles by swapping each entry with a random one. The positions of the random entries are drawn in blocks, on all
  // threads, so that they can be prefetched from memory.
  constexpr int64_t block = 65536, ahead = 16;
  std::vector<int64_t> places(static_cast<size_t>(std::min(n, block)));
  for (int64_t end = n; end > 0; end -= block) {
    const int64_t begin = std::max<int64_t>(0, end - block);
    cpu::parallel(end - begin, 1024,
                  [&](int64_t first, int64_t last) { write_places(key, lane, begin, first, last, places.data()); });
    for (int64_t k = end - begin - 1; k >= 0; --k) {
      if (k >= ahead) __builtin_prefetch(order + places[k - ahead], 1);
      std::swap(order[begin + k], order[places[k]]);
    }
  }
  return numbers;
}

}  // namespace

using lua::op;
extern const lua::OpTable permutation_functions{
    lua::OpTable::functions,
    nullptr,
    {op<&permutation>("permutation", "n, seed, stream, lane", "The numbers 1 to n in random order; int64.")}};

}  // namespace mr
